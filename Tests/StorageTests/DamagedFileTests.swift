import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Files that are not as we left them: refused or read in part, never with a trap and never with a made-up answer.
@Suite struct DamagedFileTests {
    @Test(arguments: [
        Array("not a database, but long enough to be one by its size alone".utf8), [UInt8](repeating: 0, count: 4_096),
        Array("SQLite format 3\0".utf8),
    ])
    func aFileThatIsNoDatabaseIsForeign(bytes: [UInt8]) async throws {
        try await TemporaryFolder.with { folder in
            try Data(bytes).write(to: URL(filePath: folder + "/assay.sqlite"))
            #expect(throws: StoreOpenFailure.foreign) { try SQLiteStore.open(folder: folder) }
            #expect(FileManager.default.contents(atPath: folder + "/assay.sqlite") == Data(bytes))
        }
    }

    /// Each row: where in the header a number stands, its value, and what is said.
    @Test(arguments: [
        (
            offset: 60, value: UInt8(99),
            failure: StoreOpenFailure.newerSchema(found: 99, known: SQLiteStore.schemaVersion)
        ),
        (60, 0, .foreign),
        (68, 1, .foreign),
    ])
    func aFileOfAnotherTimeOrProgramIsLeftAlone(offset: Int, value: UInt8, failure: StoreOpenFailure) async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder, 1...3)
            var bytes = try Self.bytes(of: folder)
            for place in offset..<offset + 4 { bytes[place] = place == offset + 3 ? value : 0 }
            try Self.write(bytes, to: folder)
            #expect(throws: failure) { try SQLiteStore.open(folder: folder) }
            #expect(try Self.bytes(of: folder) == bytes)
        }
    }

    @Test func aMigrationThatIsNotOursIsFound() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder, 1...3)
            var bytes = try Self.bytes(of: folder)
            let place = try #require(bytes.firstRange(of: Array("-- The ledger".utf8)))
            bytes[place.lowerBound + 3] = UInt8(ascii: "t")
            try Self.write(bytes, to: folder)
            #expect(throws: StoreOpenFailure.changedMigration(number: 1)) { try SQLiteStore.open(folder: folder) }
        }
    }

    /// As a newer version may have left it, or a hand. SQLite finds nothing wrong with it.
    @Test func aRowThatCannotBeReadFailsNoOtherWrite() async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder)
            var bought = try Samples.transaction(1)
            bought.product = try #require(ProductID("needle.1"))
            let recording = Recording(
                app: try Samples.app(),
                realm: Samples.production,
                transactions: [bought],
                customer: try Samples.customer("ann")
            )
            let evidence = try Samples.evidence()
            let write = { (store: SQLiteStore) async throws in
                try await store.write { transaction throws(StoreFailure) in
                    let situation = try transaction.situation(around: [recording])
                    try transaction.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
                }
            }
            try await write(store)
            await store.close()
            var bytes = try Self.bytes(of: folder)
            let places = bytes.ranges(of: Array("needle.1".utf8))
            #expect(!places.isEmpty)
            for place in places { bytes[place.lowerBound + 6] = 0 }
            try Self.write(bytes, to: folder)
            let again = try SQLiteStore.open(folder: folder)
            for number in Int64(2)...4 {
                await #expect(throws: StoreFailure.broken(code: 11)) { try await write(again) }
                #expect(try await Purchases.record([number], in: again) == 1)
            }
            await again.close()
        }
    }

    @Test(arguments: UInt64(0)..<60)
    func flippedBitsAreAFailureOrNothing(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder, 1...60)
            var random = SeededRandom(seed: seed)
            var bytes = try Self.bytes(of: folder)
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            try Self.write(bytes, to: folder)
            let store: SQLiteStore
            do { store = try SQLiteStore.open(folder: folder) } catch { return }
            _ = try? await store.integrityProblems()
            // Whatever each of these says, it says it.
            for number in Int64(1)...60 {
                let key = try Samples.key(number)
                _ = try? await store.read { reader throws(StoreFailure) in
                    (try reader.transactions([key]), try reader.evidence(of: key))
                }
            }
            _ = try? await Purchases.record([1, 61], in: store)
            _ = try? await Purchases.record([62], in: store)
            await store.close()
        }
    }

    @Test(arguments: UInt64(0)..<30)
    func aLogThatWasCutOrChangedLosesOnlyItsEnd(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            var random = SeededRandom(seed: seed)
            let copy = folder + "/copy"
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.record(1...20, in: store)
            try FileManager.default.copyItem(atPath: folder + "/data", toPath: copy)
            await store.close()
            let log = URL(filePath: copy + "/assay.sqlite-wal")
            var bytes = try Data(contentsOf: log)
            if Bool.random(using: &random) {
                bytes = bytes.prefix(.random(in: 0...bytes.count, using: &random))
            } else {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1
            }
            try bytes.write(to: log)
            // Only what follows the damage is gone, and what is there is whole. The schema was in the log too.
            let again = try SQLiteStore.open(folder: copy)
            #expect(try await again.integrityProblems() == [])
            let count = try await Purchases.count(in: again)
            let keys = try (Int64(1)...20).map { try Samples.key($0) }
            let found = try await again.read { reader throws(StoreFailure) in try reader.transactions(keys) }
            #expect(found.map(\.id.number) == (0..<Int64(count)).map { $0 + 1 })
            #expect(try await Purchases.record(Array(1...20), in: again) == 20 - count)
            await again.close()
        }
    }

    @Test(arguments: [1, 2, 5, 20])
    func aCopyOfTheFilesOfARunningStoreHasEveryAcknowledgedPurchase(count: Int64) async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(
                folder: folder + "/data",
                limits: CheckpointLimits(stepPages: 8, limitPages: 64)
            )
            try await Purchases.record(1...count, in: store, proofBytes: 9_000)
            // As a loss of power would leave them, were nothing else running.
            try FileManager.default.copyItem(atPath: folder + "/data", toPath: folder + "/copy")
            await store.close()
            let again = try SQLiteStore.open(folder: folder + "/copy")
            #expect(try await again.integrityProblems() == [])
            #expect(try await Purchases.count(in: again) == Int(count))
            await again.close()
        }
    }

    private static func bytes(of folder: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: folder + "/assay.sqlite")))
    }

    private static func write(_ bytes: [UInt8], to folder: String) throws {
        try Data(bytes).write(to: URL(filePath: folder + "/assay.sqlite"))
    }
}
