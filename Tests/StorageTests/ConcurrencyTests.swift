import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// One writer that checkpoints, and readers beside it, at full speed.
///
/// Debian 12's SQLite 3.40.1 damages a file within seconds when a second connection checkpoints; ours never does.
@Suite(.serialized) struct ConcurrencyTests {
    @Test func readersSeeWholeWritesAndTheFileStaysSound() async throws {
        try await TemporaryFolder.with { folder in
            // So short a log that it is started anew many times a second.
            let limits = CheckpointLimits(stepPages: 20, limitPages: 200)
            let store = try SQLiteStore.open(folder: folder, readers: 4, limits: limits)
            let end = ContinuousClock.now + .seconds(8)
            let written = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await Self.watch(store, until: end) } }
                group.addTask { try await Self.fill(store, until: end) }
                return try await group.reduce(0, +)
            }
            #expect(try await store.integrityProblems() == [])
            #expect(try await Purchases.count(in: store) == written)
            await store.close()
            let again = try SQLiteStore.open(folder: folder)
            #expect(try await again.integrityProblems() == [])
            #expect(try await Purchases.count(in: again) == written)
            await again.close()
        }
    }

    @Test func theLogStaysShortWhileSomebodyAlwaysReads() async throws {
        try await TemporaryFolder.with { folder in
            let limits = CheckpointLimits(stepPages: 50, limitPages: 400)
            let store = try SQLiteStore.open(folder: folder, readers: 3, limits: limits)
            let end = ContinuousClock.now + .seconds(4)
            let longest = try await withThrowingTaskGroup(of: Int.self) { group in
                // Snapshots that overlap: there is no moment without a reader.
                for _ in 0..<3 { group.addTask { try await Self.hold(store, until: end) } }
                group.addTask {
                    var longest = 0
                    var number: Int64 = 0
                    while ContinuousClock.now < end {
                        number += 1
                        try await Purchases.record([number], in: store, proofBytes: 20_000)
                        longest = max(longest, try Self.sizeOfLog(folder))
                    }
                    return longest
                }
                return try await group.reduce(0, max)
            }
            // The limit, and what is written while a checkpoint waits its turn.
            #expect(longest < (400 + 200) * 4_120)
            await store.close()
        }
    }

    @Test func aRepetitionTouchesNoFile() async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder)
            try await Purchases.record(Array(1...50), in: store)
            let before = try Self.log(folder)
            for _ in 0..<3 { #expect(try await Purchases.record(Array(1...50), in: store) == 0) }
            #expect(try Self.log(folder) == before)
            let submission = try Samples.submission(1)
            let evidence = try Samples.evidence()
            _ = try await store.write { transaction throws(StoreFailure) in try transaction.keepPending(submission) }
            let after = try Self.log(folder)
            let isNew = try await store.write { transaction throws(StoreFailure) in
                try transaction.keepPending(submission).isNew
            }
            #expect(!isNew)
            try await store.write { transaction throws(StoreFailure) in
                try transaction.addRefusals(counts: [:], samples: [])
                try transaction.apply(Decision(), evidence: evidence)
            }
            #expect(try Self.log(folder) == after)
            await store.close()
        }
    }

    /// Each purchase comes with its evidence; no snapshot shows one without the other, or fewer than the one before.
    private static func watch(_ store: SQLiteStore, until end: ContinuousClock.Instant) async throws -> Int {
        var last = StoreFigures()
        var random = SeededRandom(seed: 1)
        while ContinuousClock.now < end {
            let number = Int64.random(in: 1...Int64(last.transactions + 1), using: &random)
            let key = try Samples.key(number)
            let (figures, found) = try await store.read { reader throws(StoreFailure) in
                (try reader.figures(), try reader.transactions([key]))
            }
            #expect(figures.transactions == figures.evidence)
            #expect(figures.transactions >= last.transactions)
            #expect(found.count == (number <= figures.transactions ? 1 : 0))
            last = figures
        }
        return 0
    }

    private static func fill(_ store: SQLiteStore, until end: ContinuousClock.Instant) async throws -> Int {
        var random = SeededRandom(seed: 2)
        var number: Int64 = 0
        while ContinuousClock.now < end {
            let batch = (0...Int64.random(in: 0...20, using: &random)).map { number + 1 + $0 }
            let new = try await Purchases.record(batch, in: store, proofBytes: .random(in: 0...9_000, using: &random))
            #expect(new == batch.count)
            number += Int64(batch.count)
        }
        return Int(number)
    }

    private static func hold(_ store: SQLiteStore, until end: ContinuousClock.Instant) async throws -> Int {
        while ContinuousClock.now < end {
            try await store.read { reader throws(StoreFailure) in
                let before = try reader.figures()
                let release = ContinuousClock.now + .milliseconds(15)
                while ContinuousClock.now < release { usleep(500) }
                #expect(try reader.figures() == before)
            }
        }
        return 0
    }

    private static func sizeOfLog(_ folder: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/assay.sqlite-wal")
        return try #require(attributes[.size] as? Int)
    }

    private static func log(_ folder: String) throws -> Data {
        try Data(contentsOf: URL(filePath: folder + "/assay.sqlite-wal"))
    }
}
