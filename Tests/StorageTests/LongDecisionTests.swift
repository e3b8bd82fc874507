import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A decision on a long receipt: in SQLite a part of it goes into the log before it is committed.
@Suite struct LongDecisionTests {
    /// More than fit into the pages that are kept in memory.
    private static let purchases: ClosedRange<Int64> = 1...2_000

    @Test(arguments: StoreKind.allCases)
    func isWrittenWhole(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Purchases.record(10_001...10_003, in: store)
            let evidence = try Samples.evidence([UInt8](repeating: 7, count: 300_000))
            let decision = try await Purchases.record([Self.recording()], evidence, in: store)[0]
            // What comes after it finds what it wrote.
            try await Purchases.record(20_001...20_003, in: store)
            let keys = decision.outcomes.map(\.recorded.key)
            let (found, proof) = try await store.read { reader throws(StoreFailure) in
                (try reader.transactions(keys), try reader.evidence(of: keys[1_999]))
            }
            #expect(found == decision.changes.map(\.recorded))
            #expect(proof == evidence)
            #expect(try await Purchases.count(in: store) == 2_006)
            let again = try await Purchases.record([Self.recording()], evidence, in: store)[0]
            #expect(again.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func leavesNothingWhenItFails(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Purchases.record(10_001...10_003, in: store)
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
            #expect(decision.changes.count == 2_000)
            #expect(try await Purchases.count(in: store) == 2_003)
        }
    }

    /// A part of it is in the log by then, where a short decision leaves nothing before its commit.
    @Test func leavesTheFileSoundWhenItFails() async throws {
        try await TemporaryFolder.with { folder in
            let log = folder + "/data/assay.sqlite-wal"
            try await Purchases.make(in: folder + "/data", 1...3)
            let store = try SQLiteStore.open(folder: folder + "/data")
            let (recording, evidence) = (try Self.recording(), try Samples.evidence())
            for failure in [StoreFailure.busy, .conflict] {
                await #expect(throws: failure) {
                    try await store.write { write throws(StoreFailure) in
                        let decision = decide(try write.situation(around: [recording]), recording, at: Samples.now)
                        try write.apply(decision, evidence: evidence)
                        #expect(Self.size(of: log) > 500_000)
                        throw failure
                    }
                }
            }
            try await Purchases.record(20_001...20_003, in: store)
            #expect(try await store.integrityProblems() == [])
            await store.close()
            let reopened = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.count(in: reopened) == 6)
            #expect(try await reopened.integrityProblems() == [])
            await reopened.close()
        }
    }

    /// 0 for a file that is not there.
    private static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
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
