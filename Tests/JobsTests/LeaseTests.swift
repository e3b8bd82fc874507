import Jobs
import PurchaseModel
import Storage
import Testing

/// What happens to jobs whose process ends, hangs or stops.
@Suite(.timeLimit(.minutes(5))) struct LeaseTests {
    @Test func whatAnEndedProcessHeldRunsAgainAloneAfterItsLease() async throws {
        let workshop = Workshop()
        let notes = Notes()
        for word in ["a", "b"] { try await workshop.queue.enqueue(Errand(word)) }
        let held = try await workshop.claimAndDie()
        #expect(workshop.words(of: held) == ["a", "b"])
        for word in ["c", "d"] { try await workshop.queue.enqueue(Errand(word)) }
        workshop.time.advance(by: .seconds(30))
        let worker = try workshop.worker { errand, run in
            notes.begin("\(errand.word)\(run.attempt)")
            await Task.yield()
            if ["a", "b"].contains(errand.word), notes.most > 2 { return .never(because: "not alone") }
            notes.end()
            return .done
        }
        try await workshop.with(worker) {
            let events = await workshop.events(4)
            #expect(events.allSatisfy { if case .finished = $0 { true } else { false } })
        }
        #expect(notes.words.sorted() == ["a2", "b2", "c1", "d1"])
        // The old holder comes too late.
        let hold = try #require(held[0].hold)
        #expect(
            try await workshop.store.write { transaction throws(StoreFailure) in
                try transaction.finishJobs(
                    [FinishedJob(hold, as: .dead(because: "late"))],
                    at: Timestamp(milliseconds: 0)
                )
            } == [false]
        )
    }

    @Test func aSuspectRunsWithNothingBesideIt() async throws {
        let workshop = Workshop()
        let (notes, others) = (Notes(), Notes())
        try await workshop.queue.enqueue(Errand("suspect"))
        _ = try await workshop.claimAndDie()
        workshop.time.advance(by: .seconds(30))
        for word in ["a", "b", "c", "d"] { try await workshop.queue.enqueue(Errand(word)) }
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            if errand.word == "suspect" {
                others.begin("\(notes.words.count - 1) before")
                await Task.yield()
                others.begin("\(notes.words.count - 1) before")
            }
            return .done
        }
        try await workshop.with(worker) { _ = await workshop.events(5) }
        // The first two were claimed before anybody knew of it; none began while it ran.
        #expect(others.words == ["2 before", "2 before"])
    }

    @Test func aJobThatEndsItsProcessAgainAndAgainIsADeadLetter() async throws {
        let workshop = Workshop()
        let notes = Notes()
        try await workshop.queue.enqueue(Errand("poison"))
        _ = try await workshop.claimAndDie("p1")
        for owner in ["p2", "p3"] {
            workshop.time.advance(by: .seconds(30))
            #expect(workshop.words(of: try await workshop.claimAndDie(owner, .suspect)) == ["poison"])
        }
        workshop.time.advance(by: .seconds(30))
        try await workshop.queue.enqueue(Errand("good"))
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            return .done
        }
        try await workshop.with(worker) { _ = await workshop.events(2) }
        #expect(notes.words == ["good"])
        let letters = try await workshop.queue.deadLetters(limit: 9).jobs
        #expect(workshop.words(of: letters) == ["poison"])
        #expect(letters.map(\.lostLeases) == [3])
        #expect(
            letters.map(\.reason) == ["its lease ran out 3 times: the process ended or hung while it ran"]
        )
    }

    @Test func aLongRunKeepsItsLeaseByRenewingIt() async throws {
        let workshop = Workshop()
        let notes = Notes()
        try await workshop.queue.enqueue(Errand("long"))
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            await notes.door()
            return Task.isCancelled ? .failed(because: "cancelled") : .done
        }
        try await workshop.with(worker) {
            await notes.until(1)
            for _ in 0..<12 {
                await workshop.time.untilSomebodyWaits(.seconds(10))
                workshop.time.advance(by: .seconds(10))
            }
            // The last renewal is written when the worker waits for the next one.
            await workshop.time.untilSomebodyWaits(.seconds(10))
            let stolen = try await workshop.claimAndDie("thief", .suspect)
            #expect(stolen.isEmpty)
            notes.open()
            let events = await workshop.events(1)
            #expect(events.map(\.attempt) == [1])
        }
    }

    /// Somebody else has the job by now: this run is cancelled, and what it says is not written.
    @Test func aRunWhoseLeaseIsLostIsCutOff() async throws {
        let workshop = Workshop()
        let notes = Notes()
        try await workshop.queue.enqueue(Errand("slow"))
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            await notes.door()
            return .never(because: "this must not be written")
        }
        try await workshop.with(worker) {
            await notes.until(1)
            await workshop.time.untilSomebodyWaits(.seconds(10))
            // As after a halt of the whole process: the lease is over before the renewal comes.
            let late = LeaseTerms(
                owner: LeaseOwner(checked: "other"),
                duration: .seconds(30),
                now: Timestamp(milliseconds: 30_000)
            )
            let taken = try await workshop.store.write { transaction throws(StoreFailure) in
                try transaction.claimJobs(kinds: [Errand.kind], .suspect, terms: late).jobs
            }
            #expect(taken.count == 1)
            workshop.time.advance(by: .seconds(10))
            let events = await workshop.events(1)
            #expect(events == [.lost(kind: Errand.kind, taken[0].id)])
            let row = try await workshop.store.read { reader throws(StoreFailure) in try reader.job(taken[0].id) }
            #expect(row?.lease == taken[0].lease)
        }
    }

    /// Whoever has a job run now has a reason that one under way may not know of: it runs once more, and not twice.
    @Test(arguments: [1, 3]) func whatIsWantedWhileItRunsRunsOnceMore(wishes: Int) async throws {
        let workshop = Workshop()
        let errand = Errand("read", key: "read")
        try await workshop.queue.enqueue(errand)
        let held = try await workshop.claimAndDie("running")
        for _ in 0..<wishes {
            try await workshop.store.write { write throws(StoreFailure) in
                try workshop.queue.hasten(errand, in: write)
            }
        }
        #expect(try await workshop.claimAndDie("early").isEmpty, "it waits for the one that runs")
        let hold = try #require(held.first?.hold)
        try await workshop.store.write { write throws(StoreFailure) in
            _ = try write.finishJobs([FinishedJob(hold, as: .done)], at: Timestamp(milliseconds: 0))
        }
        workshop.time.advance(by: .seconds(30))
        #expect(workshop.words(of: try await workshop.claimAndDie("later")) == ["read"])
    }

    /// One that waits is brought forward, and no other is added.
    @Test func whatWaitsIsBroughtForwardAlone() async throws {
        let workshop = Workshop()
        let errand = Errand("read", key: "read")
        try await workshop.queue.enqueue(errand, due: workshop.time.now.advanced(by: .seconds(600)))
        for _ in 0..<2 {
            try await workshop.store.write { write throws(StoreFailure) in
                try workshop.queue.hasten(errand, in: write)
            }
        }
        #expect(workshop.words(of: try await workshop.claimAndDie()) == ["read"])
        workshop.time.advance(by: .seconds(29))
        #expect(try await workshop.claimAndDie("other").isEmpty)
    }

    @Test func whoStopsFinishesWhatRunsAndClaimsNothingMore() async throws {
        let workshop = Workshop()
        let notes = Notes()
        for word in ["a", "b", "c"] { try await workshop.queue.enqueue(Errand(word)) }
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            await notes.door()
            return .done
        }
        try await workshop.with(worker) {
            await notes.until(2)
            worker.stop()
            notes.open()
            _ = await workshop.events(2)
        }
        #expect(notes.words.sorted() == ["a", "b"])
        #expect(workshop.words(of: try await workshop.claimAndDie()) == ["c"])
    }

    /// Their leases are given back, and the attempt is not counted: another node has them at once.
    @Test(arguments: [true, false])
    func whatDoesNotEndInTimeIsLetGo(isPatient: Bool) async throws {
        let workshop = Workshop()
        let notes = Notes()
        try await workshop.queue.enqueue(Errand("endless"))
        let worker = try workshop.worker { errand, _ in
            notes.begin(errand.word)
            await notes.door()
            return .failed(because: "cancelled")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await worker.run() }
            await notes.until(1)
            if isPatient {
                worker.stop()
                await workshop.time.untilSomebodyWaits(.seconds(7))
                workshop.time.advance(by: .seconds(7))
            } else {
                group.cancelAll()
            }
            try await group.waitForAll()
        }
        let again = try await workshop.claimAndDie()
        #expect(workshop.words(of: again) == ["endless"])
        #expect(again.map(\.attempt) == [1])
        #expect(again.map(\.lostLeases) == [0])
    }
}
