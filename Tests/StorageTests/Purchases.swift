import PurchaseModel
import Storage
import TestSupport

/// Writes and counts purchases, for tests that are about files and not about what is in them.
enum Purchases {
    static func record(_ numbers: ClosedRange<Int64>, in store: any Store, proofBytes: Int = 100) async throws {
        for number in numbers { try await record([number], in: store, proofBytes: proofBytes) }
    }

    /// All in one write; tells how many were new.
    @discardableResult
    static func record(_ numbers: [Int64], in store: any Store, proofBytes: Int = 100) async throws -> Int {
        let app = try Samples.app()
        let recordings = try numbers.map { number in
            Recording(
                app: app,
                realm: Samples.production,
                transactions: [try Samples.fullTransaction(number)],
                customer: try Samples.customer("c\(number % 10)")
            )
        }
        let evidence = try Samples.evidence([UInt8](repeating: 7, count: proofBytes))
        let decisions = try await record(recordings, evidence, in: store)
        return decisions.count { $0.outcomes.contains(where: \.isNew) }
    }

    /// Decides some proofs one after the other, as they stand in one write, and tells how.
    @discardableResult
    static func record(
        _ recordings: [Recording],
        _ evidence: EvidenceRow,
        in store: any Store
    ) async throws -> [Decision] {
        try await store.write { write throws(StoreFailure) in
            var situation = try write.situation(around: recordings)
            var decisions: [Decision] = []
            for recording in recordings {
                let decision = decide(situation, recording, at: Samples.now)
                situation.apply(decision)
                try write.apply(decision, evidence: evidence)
                decisions.append(decision)
            }
            return decisions
        }
    }

    static func count(in store: any Store) async throws -> Int {
        try await store.read { reader throws(StoreFailure) in try reader.figures().transactions }
    }

    /// Makes a store, fills it and closes it.
    static func make(in folder: String, _ numbers: ClosedRange<Int64>, proofBytes: Int = 100) async throws {
        let store = try SQLiteStore.open(folder: folder)
        try await record(numbers, in: store, proofBytes: proofBytes)
        await store.close()
    }
}
