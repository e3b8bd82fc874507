import Jobs
import PurchaseModel
import Storage
import Synchronization
import Testing

/// The worker: what it runs, when again, and what it gives up.
@Suite(.timeLimit(.minutes(5))) struct JobWorkerTests {
    @Test func jobsRunOnceEachAndNoMoreAtOnceThanAllowed() async throws {
        let workshop = Workshop()
        let notes = Notes()
        for number in 1...20 { try await workshop.queue.enqueue(Errand("\(number)")) }
        let worker = try workshop.worker { errand, run in
            notes.begin(errand.word)
            await Task.yield()
            notes.end()
            return run.attempt == 1 ? .done : .never(because: "again")
        }
        try await workshop.with(worker) {
            let events = await workshop.events(20)
            #expect(events.allSatisfy { if case .finished = $0 { true } else { false } })
        }
        #expect(notes.words.sorted() == (1...20).map(String.init).sorted())
        #expect(notes.most <= 2)
        let left = try await workshop.store.read { reader throws(StoreFailure) in try reader.jobFigures() }
        #expect(left == [])
    }

    @Test func whatBecomesDueLaterRunsThen() async throws {
        let workshop = Workshop()
        let notes = Notes()
        try await workshop.queue.enqueue(Errand("later"), due: Timestamp(milliseconds: 2_000))
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            return .done
        }
        try await workshop.with(worker) {
            for _ in 0..<2 {
                await workshop.time.untilSomebodyWaits(.seconds(1))
                #expect(notes.words.isEmpty)
                workshop.time.advance(by: .seconds(1))
            }
            await notes.until(1)
            _ = await workshop.events(1)
        }
    }

    /// In the write that it follows from, and a key keeps a second one out.
    @Test func aJobIsAddedWithTheWriteThatItFollowsFrom() async throws {
        let workshop = Workshop()
        let queue = workshop.queue
        await #expect(throws: StoreFailure.full) {
            try await workshop.store.write { transaction throws(StoreFailure) in
                try queue.enqueue(Errand("lost"), in: transaction)
                throw .full
            }
        }
        let added = try await workshop.store.write { transaction throws(StoreFailure) in
            [
                try queue.enqueue(Errand("a", key: "k"), in: transaction),
                try queue.enqueue(Errand("b", key: "k"), in: transaction),
            ]
        }
        #expect(added == [true, false])
        #expect(workshop.words(of: try await workshop.claimAndDie()) == ["a"])
    }

    @Test func aFailureIsTriedAgainByTheScheduleAndThenGivenUp() async throws {
        let workshop = Workshop()
        try await workshop.queue.enqueue(Errand("a"))
        let worker = try workshop.worker { _, run in .failed(because: "no answer \(run.attempt)\u{0}") }
        try await workshop.with(worker) {
            var events = await workshop.events(1)
            for delay in [4, 8] {
                // A moment too early nothing happens; the worker has looked when it waits again.
                workshop.time.advance(by: .milliseconds(delay * 1_000 - 1))
                await workshop.time.untilSomebodyWaits(.seconds(1))
                workshop.time.advance(by: .milliseconds(1))
                worker.wake()
                events += await workshop.events(1)
            }
            #expect(
                events.map(\.reason) == ["no answer 1", "no answer 2", "given up after 3 attempts: no answer 3"]
            )
        }
        let letters = try await workshop.queue.deadLetters(limit: 9).jobs
        #expect(workshop.words(of: letters) == ["a"])
        #expect(letters.map(\.attempt) == [3])
        #expect(letters.map(\.diedAt) == [Timestamp(milliseconds: 12_000)])
        #expect(try await workshop.queue.revive(letters[0].id))
        #expect(try await workshop.claimAndDie().map(\.attempt) == [1])
    }

    @Test func whatCanNeverSucceedIsADeadLetterAtOnce() async throws {
        let workshop = Workshop()
        try await workshop.queue.enqueue(Errand("a"))
        try await workshop.store.write { transaction throws(StoreFailure) in
            let unreadable = NewJob(
                id: JobID(checked: "job_z"),
                kind: Errand.kind,
                payload: [0xFF],
                due: Timestamp(milliseconds: 0),
                createdAt: Timestamp(milliseconds: 0)
            )
            _ = try transaction.enqueue(unreadable)
        }
        let worker = try workshop.worker { _, _ in .never(because: "no such customer") }
        try await workshop.with(worker) {
            let reasons = await workshop.events(2).map(\.reason)
            #expect(Set(reasons) == ["no such customer", "the payload cannot be read"])
        }
        #expect(try await workshop.queue.deadLetters(limit: 9).jobs.count == 2)
    }

    /// And what failed before it asked is forgiven: the next failure costs the first pause.
    @Test func aRunThatAsksForItComesAgainHoweverOftenItRan() async throws {
        let workshop = Workshop()
        try await workshop.queue.enqueue(Errand("a"))
        let asked = JobOutcome.again(after: .seconds(50), because: "asked to wait")
        let failed = JobOutcome.failed(because: "no answer")
        let outcomes = Mutex([failed, failed, asked, asked, asked, asked, failed, .done][...])
        let worker = try workshop.worker { _, _ in outcomes.withLock { $0.removeFirst() } }
        try await workshop.with(worker) {
            var attempts: [Int?] = []
            for _ in 0..<8 {
                attempts += await workshop.events(1).map(\.attempt)
                workshop.time.advance(by: .seconds(500))
                worker.wake()
            }
            #expect(attempts == [1, 2, 3, 1, 1, 1, 1, 2])
        }
    }
}

extension JobEvent {
    var reason: String? {
        switch self {
        case .failed(_, _, _, let reason), .abandoned(_, _, _, let reason): reason
        default: nil
        }
    }

    var attempt: Int? {
        switch self {
        case .failed(_, _, let attempt, _), .abandoned(_, _, let attempt, _), .finished(_, _, let attempt, _): attempt
        default: nil
        }
    }
}
