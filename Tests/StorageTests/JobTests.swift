import PurchaseModel
import Storage
import Testing

/// Jobs and kept answers as a store keeps them.
@Suite struct JobTests {
    @Test(arguments: StoreKind.allCases)
    func aJobIsAddedWithTheWriteThatItFollowsFrom(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let job = try OutboxSamples.job("1", due: 5, key: "k", payload: [0, 255])
            await #expect(throws: StoreFailure.busy) {
                try await store.write { transaction throws(StoreFailure) in
                    _ = try transaction.enqueue(job)
                    throw .busy
                }
            }
            #expect(try await store.jobRow(job.id) == nil)
            #expect(try await store.enqueue(job))
            let row = JobRow(
                job,
                state: .pending,
                dueAt: OutboxSamples.at(5),
                attempt: 0,
                lostLeases: 0,
                lease: nil,
                reason: nil,
                diedAt: nil
            )
            #expect(try await store.jobRow(job.id) == row)
            #expect(try await store.jobs(.sound(limit: 9), "w", at: 4).jobs.isEmpty)
            await #expect(throws: StoreFailure.conflict) {
                try await store.enqueue(try OutboxSamples.job("1", kind: "print"))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWaitsCanBeHadSooner(kind: StoreKind) async throws {
        try await kind.withStore { store in
            #expect(try await store.enqueue(try OutboxSamples.job("1", due: 50)))
            #expect(try await store.hasten("2", to: 5) == false)
            #expect(try await store.hasten("1", to: 60) == false)
            #expect(try await store.jobs(.sound(limit: 9), "w", at: 5).jobs.isEmpty)
            #expect(try await store.hasten("1", to: 5))
            #expect(try await store.hasten("1", to: 5) == false)
            let running = try #require(try await store.jobs(.sound(limit: 9), "w", at: 5).jobs.first)
            #expect(running.job.due == OutboxSamples.at(50))
            // What runs is as soon as can be, and what is dead waits for nothing.
            #expect(try await store.hasten("1", to: 1) == false)
            #expect(try await store.end(running, .dead(because: "no"), at: 6))
            #expect(try await store.hasten("1", to: 1) == false)
        }
    }

    /// Whoever holds one finds it as it was, and may have it sooner in the same write.
    @Test(arguments: StoreKind.allCases)
    func whatWaitsCanBeHeldAndNothingElse(kind: StoreKind) async throws {
        try await kind.withStore { store in
            #expect(try await store.enqueue(try OutboxSamples.job("1", due: 5)))
            let waiting = try await store.jobRow(try OutboxSamples.jobID("1"))
            #expect(try await store.hold("2") == false)
            #expect(try await store.hold("1"))
            #expect(try await store.jobRow(try OutboxSamples.jobID("1")) == waiting)
            let running = try #require(try await store.jobs(.sound(limit: 9), "w", at: 5).jobs.first)
            #expect(try await store.hold("1") == false)
            #expect(try await store.end(running, .released, at: 6))
            #expect(try await store.hold("1"))
            let again = try #require(try await store.jobs(.sound(limit: 9), "w", at: 6).jobs.first)
            #expect(try await store.end(again, .dead(because: "no"), at: 7))
            #expect(try await store.hold("1") == false)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aKeyKeepsASecondOneOutWhileTheFirstWaitsOrRuns(kind: StoreKind) async throws {
        try await kind.withStore { store in
            #expect(try await store.enqueue(try OutboxSamples.job("1", key: "k")))
            #expect(try await store.enqueue(try OutboxSamples.job("2", key: "k")) == false)
            #expect(try await store.enqueue(try OutboxSamples.job("3", kind: "print", key: "k")))
            #expect(try await store.enqueue(try OutboxSamples.job("4")))
            #expect(try await store.enqueue(try OutboxSamples.job("5")))
            let running = try await store.jobs(.sound(limit: 1), "w", at: 0).jobs
            #expect(running.map(\.id.text) == ["job_1"])
            #expect(try await store.enqueue(try OutboxSamples.job("6", key: "k")) == false)
            #expect(try await store.end(running[0], .dead(because: "no"), at: 1))
            #expect(try await store.enqueue(try OutboxSamples.job("7", key: "k")))
            // The dead one cannot come back beside the new one.
            #expect(try await store.revive("1") == false)
            let open = try await store.read { reader throws(StoreFailure) in
                [
                    try reader.openJobs(kind: "mail", keys: ["k", "l"]),
                    try reader.openJobs(kind: "print", keys: ["k"]),
                    try reader.openJobs(kind: "fax", keys: ["k"]), try reader.openJobs(kind: "mail", keys: []),
                ]
            }
            #expect(open == [["k"], ["k"], [], []])
            let second = try await store.jobs(.sound(limit: 9), "w", at: 2).jobs
            for job in second { #expect(try await store.end(job, .done, at: 2)) }
            // Nor does a dead one wait for anything.
            let left = try await store.read { reader throws(StoreFailure) in
                try reader.openJobs(kind: "mail", keys: ["k"])
            }
            #expect(left == [])
            #expect(try await store.revive("1"))
            #expect(try await store.revive("1") == false)
            #expect(try await store.jobRow(try OutboxSamples.jobID("7")) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theLongestDueOfAllKindsComeFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let jobs = [("a", "mail", 3), ("b", "print", 1), ("c", "mail", 2), ("d", "print", 2), ("e", "fax", 0)]
            for (name, kind, due) in jobs {
                #expect(try await store.enqueue(try OutboxSamples.job(name, kind: kind, due: Int64(due))))
            }
            let claimed = try await store.jobs(.sound(limit: 3), "w", at: 9).jobs
            #expect(claimed.map(\.id.text) == ["job_b", "job_c", "job_d"])
            #expect(claimed.allSatisfy { $0.attempt == 1 && $0.state == .leased })
            let (due, figures) = try await store.read { reader throws(StoreFailure) in
                (
                    [
                        try reader.hasDueJobs(kinds: ["mail", "print"], at: OutboxSamples.at(2)),
                        try reader.hasDueJobs(kinds: ["mail", "print"], at: OutboxSamples.at(3)),
                        try reader.hasDueJobs(kinds: ["print"], at: OutboxSamples.at(10_008)),
                        try reader.hasDueJobs(kinds: ["print"], at: OutboxSamples.at(10_009)),
                        try reader.hasDueJobs(kinds: [], at: OutboxSamples.at(99_999)),
                    ], try reader.jobFigures()
                )
            }
            #expect(due == [false, true, false, true, false])
            #expect(
                figures == [
                    JobFigures(kind: "fax", counts: [.pending: 1], oldestDue: OutboxSamples.at(0)),
                    JobFigures(kind: "mail", counts: [.pending: 1, .leased: 1], oldestDue: OutboxSamples.at(3)),
                    JobFigures(kind: "print", counts: [.leased: 2]),
                ]
            )
        }
    }

    /// What may have ended its process is given alone, and its lost leases are counted.
    @Test(arguments: StoreKind.allCases)
    func aLeaseThatRunsOutMakesASuspect(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["a", "b"] { #expect(try await store.enqueue(try OutboxSamples.job(name))) }
            let first = try await store.jobs(.sound(limit: 9), "w1", at: 0).jobs
            #expect(try await store.enqueue(try OutboxSamples.job("c")))
            #expect(try await store.jobs(.suspect, "w2", at: 9_999) == JobClaim())
            let sound = try await store.jobs(.sound(limit: 9), "w2", at: 10_000)
            #expect(sound.jobs.map(\.id.text) == ["job_c"])
            #expect(sound.hasSuspects)
            let suspect = try await store.jobs(.suspect, "w2", at: 10_000)
            #expect(suspect.jobs.map(\.id.text) == ["job_a"])
            #expect(suspect.jobs.map(\.lostLeases) == [1])
            #expect(suspect.jobs.map(\.attempt) == [2])
            #expect(suspect.hasSuspects)
            // The old holder has lost it.
            #expect(try await store.end(first[0], .done, at: 10_001) == false)
            // Let go, it stays a suspect; done with an answer, it is one no longer.
            #expect(try await store.end(suspect.jobs[0], .released, at: 10_002))
            #expect(try await store.jobRow(first[0].id)?.state == .suspect)
            let again = try await store.jobs(.suspect, "w2", at: 10_003).jobs
            #expect(again.map(\.id.text) == ["job_b"])
            #expect(try await store.end(again[0], .again(after: .seconds(1), because: "later"), at: 10_003))
            let row = try #require(try await store.jobRow(first[1].id))
            #expect(row.state == .pending)
            #expect(row.lostLeases == 0)
            #expect(row.reason == "later")
            #expect(row.dueAt == OutboxSamples.at(11_003))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatDidNotFailBeginsToCountAnew(kind: StoreKind) async throws {
        try await kind.withStore { store in
            #expect(try await store.enqueue(try OutboxSamples.job("a")))
            let endings: [JobEnding] = [
                .again(after: .seconds(1), because: "no answer"), .again(after: .seconds(1), because: "no answer"),
                .afresh(after: .seconds(1), because: "nothing new"), .again(after: .seconds(1), because: "no answer"),
            ]
            var attempts: [Int] = []
            for (turn, ending) in endings.enumerated() {
                let moment = Int64(turn) * 1_000
                let job = try #require(try await store.jobs(.sound(limit: 9), "w", at: moment).jobs.first)
                #expect(try await store.end(job, ending, at: moment))
                let row = try #require(try await store.jobRow(job.id))
                #expect((row.state, row.dueAt) == (.pending, OutboxSamples.at(moment + 1_000)))
                attempts += [job.attempt, row.attempt]
            }
            #expect(attempts == [1, 1, 2, 2, 3, 0, 1, 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func deadLettersKeepTheirReasonsAndComeBackAsNew(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["c", "a", "b"] { #expect(try await store.enqueue(try OutboxSamples.job(name))) }
            for job in try await store.jobs(.sound(limit: 9), "w", at: 0).jobs {
                let moment: Int64 = job.id.text == "job_b" ? 1 : 2
                #expect(try await store.end(job, .dead(because: "no \(job.id)"), at: moment))
            }
            let pages = try await store.read { reader throws(StoreFailure) in
                let first = try reader.deadLetters(after: nil, limit: 2)
                return [first, try reader.deadLetters(after: first.next, limit: 2)]
            }
            #expect(pages.flatMap(\.jobs).map(\.id.text) == ["job_b", "job_a", "job_c"])
            #expect(pages.flatMap(\.jobs).map(\.reason) == ["no job_b", "no job_a", "no job_c"])
            #expect(pages[1].next == nil)
            #expect(try await store.revive("a"))
            let revived = try #require(try await store.jobs(.sound(limit: 9), "w", at: 50).jobs.first)
            #expect(revived.id.text == "job_a")
            #expect(revived.attempt == 1)
            #expect(revived.lease?.token == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsNoJobIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = [
                try OutboxSamples.job("1", kind: ""), try OutboxSamples.job("1", kind: "é"),
                try OutboxSamples.job("1", key: ""),
                try OutboxSamples.job("1", payload: [UInt8](repeating: 0, count: 65_537)),
            ]
            for row in rows {
                await #expect(throws: StoreFailure.unstorable) { try await store.enqueue(row) }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anAnswerIsKeptOnceForEachHolderAndKey(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let answers = [
                OutboxSamples.answer("k", keptAt: 1), OutboxSamples.answer("k", holder: "other", keptAt: 2),
                OutboxSamples.answer("K", keptAt: 3),
            ]
            for answer in answers {
                try await store.write { transaction throws(StoreFailure) in try transaction.keepAnswer(answer) }
            }
            var again = answers[0]
            again.status = 500
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { [again] transaction throws(StoreFailure) in try transaction.keepAnswer(again) }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                var found: [KeptAnswer?] = []
                for answer in answers { found.append(try reader.keptAnswer(answer.name)) }
                return found
            }
            #expect(found == answers)
            let swept = try await store.write { transaction throws(StoreFailure) in
                [
                    try transaction.sweepAnswers(olderThan: .milliseconds(2), at: OutboxSamples.at(5), limit: 1),
                    try transaction.sweepAnswers(olderThan: .milliseconds(2), at: OutboxSamples.at(5), limit: 9),
                    try transaction.sweepAnswers(olderThan: .milliseconds(2), at: OutboxSamples.at(5), limit: 9),
                ]
            }
            #expect(swept == [1, 1, 0])
            let name = answers[2].name
            #expect(try await store.read { reader throws(StoreFailure) in try reader.keptAnswer(name) } == answers[2])
        }
    }

    /// They were written first, while the clock was far ahead, and must not stand before all others until their time comes.
    @Test(arguments: StoreKind.allCases)
    func answersFromTheFutureAreNoObstacle(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let moments: [(key: String, keptAt: Int64)] = [("a", 900), ("b", 121), ("c", 120), ("d", 80), ("e", 79)]
            for (key, keptAt) in moments {
                let answer = OutboxSamples.answer(key, keptAt: keptAt)
                try await store.write { transaction throws(StoreFailure) in try transaction.keepAnswer(answer) }
            }
            let swept = try await store.write { transaction throws(StoreFailure) in
                let now = OutboxSamples.at(100)
                return [
                    try transaction.sweepAnswers(olderThan: .milliseconds(20), at: now, limit: 2),
                    try transaction.sweepAnswers(olderThan: .milliseconds(20), at: now, limit: 9),
                ]
            }
            #expect(swept == [2, 1])
            let names = moments.map { OutboxSamples.answer($0.key).name }
            let found = try await store.read { reader throws(StoreFailure) in
                var found: [String] = []
                for name in names where try reader.keptAnswer(name) != nil { found.append(name.key) }
                return found
            }
            #expect(found == ["c", "d"])
        }
    }
}

extension Store {
    fileprivate func enqueue(_ job: NewJob) async throws -> Bool {
        try await write { transaction throws(StoreFailure) in try transaction.enqueue(job).isNew }
    }

    fileprivate func end(_ job: JobRow, _ ending: JobEnding, at now: Int64) async throws -> Bool {
        let hold = try #require(job.hold)
        return try await finish([FinishedJob(hold, as: ending)], at: now) == [true]
    }

    fileprivate func hasten(_ name: String, to due: Int64) async throws -> Bool {
        let id = try OutboxSamples.jobID(name)
        return try await write { transaction throws(StoreFailure) in
            try transaction.hastenJob(id, at: OutboxSamples.at(due))
        }
    }

    fileprivate func hold(_ name: String) async throws -> Bool {
        let id = try OutboxSamples.jobID(name)
        return try await write { transaction throws(StoreFailure) in try transaction.holdJob(id) }
    }

    fileprivate func revive(_ name: String) async throws -> Bool {
        let id = try OutboxSamples.jobID(name)
        return try await write { transaction throws(StoreFailure) in
            try transaction.reviveJob(id, at: OutboxSamples.at(3))
        }
    }

    fileprivate func jobRow(_ id: JobID) async throws -> JobRow? {
        try await read { reader throws(StoreFailure) in try reader.job(id) }
    }
}
