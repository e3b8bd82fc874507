import PurchaseModel
import Storage
import Testing

/// What is due when the clock that it was written by is found to have been ahead.
@Suite struct SetBackClockTests {
    /// Each is due so much sooner, whether it waits, is held or was tried before; what is due already or has ended stays.
    @Test(arguments: StoreKind.allCases)
    func whatIsDueLaterIsDueSoMuchSooner(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let ahead: Int64 = 1_000_000
            try await store.create(try OutboxSamples.endpoint("a"), try OutboxSamples.endpoint("b", isEnabled: false))
            let events = try (1...5).map { number in
                try OutboxSamples.event("\(number)", number, learnedAt: number == 5 ? 10 : ahead)
            }
            try await store.append(events)
            let leases = try await store.claim("a", try OutboxSamples.terms("w", at: ahead), limit: 4)
            let holds = Dictionary(uniqueKeysWithValues: leases.map { ($0.event.id.text, $0.hold) })
            let (done, again) = (try #require(holds["evt_1"]), try #require(holds["evt_2"]))
            #expect(try await store.finish(done, .delivered, at: ahead))
            #expect(try await store.finish(again, .again(after: .seconds(60)), at: ahead))
            for (name, due) in [("waits", ahead + 7), ("held", ahead), ("soon", 100), ("due", 50)] {
                try await store.add(try OutboxSamples.job(name, kind: name == "held" ? "print" : "mail", due: due))
            }
            let claimed = try await store.write { transaction throws(StoreFailure) in
                let terms = LeaseTerms(
                    owner: LeaseOwner(checked: "w"),
                    duration: .seconds(10),
                    now: OutboxSamples.at(ahead)
                )
                return try transaction.claimJobs(kinds: ["print"], .sound(limit: 9), terms: terms).jobs.count
            }
            #expect(claimed == 1)
            let hastened = try await store.write { transaction throws(StoreFailure) in
                try transaction.hastenAll(by: .milliseconds(ahead - 60), at: OutboxSamples.at(60))
            }
            let (jobs, deliveries) = try await store.read { reader throws(StoreFailure) in
                (
                    try ["waits", "held", "soon", "due"].map { name throws(StoreFailure) in
                        try reader.job(JobID(checked: "job_\(name)"))
                    },
                    try reader.deliveries(
                        endpoint: WebhookEndpointID(checked: "whe_a"),
                        state: nil,
                        before: nil,
                        limit: 9
                    ).deliveries
                )
            }
            #expect(jobs.map { $0?.dueAt.milliseconds } == [67, 10_060, 60, 50])
            #expect(jobs[1]?.lease?.until.milliseconds == 10_060)
            // Newest first: one is held, one waits, one is held, one is tried again, one was delivered.
            let due = deliveries.map { $0.state == .delivered ? nil : $0.dueAt.milliseconds }
            #expect(due == [10_060, 60, 10_060, 60_060, nil])
            #expect(hastened == 7)
        }
    }
}
