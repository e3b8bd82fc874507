import PurchaseModel
import Storage
import TestSupport
import Testing

/// A decision on a long receipt: in SQLite a part of it goes into the log before it is committed.
@Suite struct LongDecisionTests {
    private static let purchases: ClosedRange<Int64> = 1...600

    @Test(arguments: StoreKind.allCases)
    func isWrittenWhole(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Purchases.record(1_001...1_003, in: store)
            let evidence = try Samples.evidence([UInt8](repeating: 7, count: 300_000))
            let decision = try await Purchases.record([Self.recording()], evidence, in: store)[0]
            // What comes after it finds what it wrote.
            try await Purchases.record(2_001...2_003, in: store)
            let keys = decision.outcomes.map(\.recorded.key)
            let (found, proof) = try await store.read { reader throws(StoreFailure) in
                (try reader.transactions(keys), try reader.evidence(of: keys[599]))
            }
            #expect(found == decision.changes.map(\.recorded))
            #expect(proof == evidence)
            #expect(try await Purchases.count(in: store) == 606)
            let again = try await Purchases.record([Self.recording()], evidence, in: store)[0]
            #expect(again.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func leavesNothingWhenItFails(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Purchases.record(1_001...1_003, in: store)
            let (recording, evidence) = (try Self.recording(), try Samples.evidence())
            await #expect(throws: StoreFailure.busy) {
                try await store.write { write throws(StoreFailure) in
                    let decision = decide(try write.situation(around: [recording]), recording, at: Samples.now)
                    try write.apply(decision, evidence: evidence)
                    throw StoreFailure.busy
                }
            }
            #expect(try await Purchases.count(in: store) == 3)
            let decision = try await Purchases.record([recording], evidence, in: store)[0]
            #expect(decision.changes.count == 600)
            #expect(try await Purchases.count(in: store) == 603)
        }
    }

    @Test func leavesTheFileSoundWhenItFails() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder + "/data", 1...3)
            let store = try SQLiteStore.open(folder: folder + "/data")
            let (recording, evidence) = (try Self.recording(), try Samples.evidence())
            for failure in [StoreFailure.busy, .conflict] {
                await #expect(throws: failure) {
                    try await store.write { write throws(StoreFailure) in
                        let decision = decide(try write.situation(around: [recording]), recording, at: Samples.now)
                        try write.apply(decision, evidence: evidence)
                        throw failure
                    }
                }
            }
            try await Purchases.record(2_001...2_003, in: store)
            #expect(try await store.integrityProblems() == [])
            await store.close()
            let reopened = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.count(in: reopened) == 6)
            #expect(try await reopened.integrityProblems() == [])
            await reopened.close()
        }
    }

    private static func recording() throws -> Recording {
        Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: try purchases.map { number in
                var transaction = try Samples.fullTransaction(number)
                transaction.originalID = transaction.id
                transaction.revocation = nil
                return transaction
            },
            customer: try Samples.customer("ann")
        )
    }
}
