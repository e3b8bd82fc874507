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
        return try await store.write { transaction throws(StoreFailure) in
            var situation = try transaction.situation(around: recordings)
            var new = 0
            for recording in recordings {
                let decision = decide(situation, recording, at: Samples.now)
                situation.apply(decision)
                try transaction.apply(decision, evidence: evidence)
                if decision.outcomes.contains(where: \.isNew) { new += 1 }
            }
            return new
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
