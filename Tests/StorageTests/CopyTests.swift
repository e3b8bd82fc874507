import Foundation
import PurchaseModel
import Storage
import Synchronization
import Testing

/// A copy of a ledger is whole and of one moment, whatever its server writes meanwhile; and its server notices nothing.
@Suite struct CopyTests {
    /// A server that writes one purchase after the other.
    private final class Writer: Sendable {
        private let last: Mutex<Int64>
        private let isOver = Atomic(false)

        init(after last: Int64) { self.last = Mutex(last) }

        var written: Int64 { last.withLock { $0 } }

        func stop() { isOver.store(true, ordering: .relaxed) }

        func run(_ store: SQLiteStore) async throws {
            while !isOver.load(ordering: .relaxed) {
                let next = written + 1
                try await Purchases.record(next...next, in: store, proofBytes: 9_000)
                last.withLock { $0 = next }
            }
        }
    }

    @Test func copiesBesideAServerThatNeverRestsAreWhole() async throws {
        try await TemporaryFolder.with { folder in
            // The log is brought in every few pages: as often as a checkpoint can meet a copy.
            let limits = CheckpointLimits(stepPages: 8, limitPages: 64)
            let store = try SQLiteStore.open(folder: folder + "/data", limits: limits)
            try await Purchases.record(1...200, in: store, proofBytes: 9_000)
            let writer = Writer(after: 200)
            var besideWrites = 0
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await writer.run(store) }
                // A busy machine may write little during a copy: on to the one that met a write.
                for number in 0..<100 where number < 12 || besideWrites == 0 {
                    let ledger = try ReadOnlyLedger.open(folder: folder + "/data")
                    let before = writer.written
                    try await Self.copy(ledger, to: "\(folder)/copy-\(number)")
                    let after = writer.written + 1
                    besideWrites += after - before > 1 ? 1 : 0
                    await ledger.close()
                    try await Self.expectWhole(folder, number, between: before, and: after)
                }
                writer.stop()
                try await group.waitForAll()
            }
            #expect(try await store.integrityProblems() == [])
            #expect(try await Purchases.count(in: store) == Int(writer.written))
            #expect(besideWrites > 0, "the server wrote meanwhile")
            await store.close()
        }
    }

    /// A copy that takes long goes on from where it was, although more is written than it copies in a step.
    @Test func aCopyKeepsItsMoment() async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.record(1...50, in: store, proofBytes: 60_000)
            let ledger = try ReadOnlyLedger.open(folder: folder + "/data")
            async let copied: Void = Self.copy(ledger, to: folder + "/copy-0")
            for number in Int64(51)...80 {
                try await Purchases.record(number...number, in: store, proofBytes: 60_000)
            }
            try await copied
            await ledger.close()
            try await Self.expectWhole(folder, 0, between: 50, and: 81)
            await store.close()
        }
    }

    @Test func aLedgerIsAdoptedOnlyWhereThereIsNone() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder + "/data", 1...3)
            let ledger = try ReadOnlyLedger.open(folder: folder + "/data")
            try await Self.copy(ledger, to: folder + "/copy")
            await ledger.close()
            let database = folder + "/data/assay.sqlite"
            #expect(throws: StoreOpenFailure.inaccessible(path: database, errno: EEXIST)) {
                let lock = try FolderLock(in: folder + "/data")
                try SQLiteStore.adopt(folder + "/copy", in: folder + "/data", holding: lock)
            }
            try FileManager.default.createDirectory(atPath: folder + "/new", withIntermediateDirectories: false)
            try SQLiteStore.adopt(folder + "/copy", in: folder + "/new", holding: try FolderLock(in: folder + "/new"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/copy"))
            let store = try SQLiteStore.open(folder: folder + "/new")
            #expect(try await Purchases.count(in: store) == 3)
            #expect(throws: StoreOpenFailure.alreadyOpen) { try FolderLock(in: folder + "/new") }
            await store.close()
        }
    }

    /// As one has that is being started by somebody else in the same process.
    @Test func aClaimEndsThoughAChildHasItsDescriptor() async throws {
        try await TemporaryFolder.with { folder in
            var lock: FolderLock? = try FolderLock(in: folder)
            let files = FileManager.default
            let open = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            let held = open.filter { number in
                let file = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return file?.hasSuffix("\(URL(filePath: folder).lastPathComponent)/assay.lock") == true
            }
            let copies = held.map { dup($0) }
            defer { for copy in copies { close(copy) } }
            #expect(copies.count == 1 && copies.allSatisfy { $0 >= 0 })
            #expect(throws: StoreOpenFailure.alreadyOpen) { try FolderLock(in: folder) }
            withExtendedLifetime(lock) {}
            lock = nil
            #expect(throws: Never.self) { try FolderLock(in: folder) }
        }
    }

    private static func copy(_ ledger: ReadOnlyLedger, to path: String) async throws {
        try Data().write(to: URL(filePath: path))
        try await ledger.copy(into: path)
    }

    /// Sound, and with every purchase from the first to one that was the last at some moment in between.
    private static func expectWhole(
        _ folder: String,
        _ number: Int,
        between first: Int64,
        and last: Int64
    ) async throws {
        let place = "\(folder)/restored-\(number)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: "\(folder)/copy-\(number)", toPath: place + "/assay.sqlite")
        let ledger = try ReadOnlyLedger.open(folder: place)
        #expect(try await ledger.integrityProblems() == [])
        let keys = try (1...last).map { try Samples.key($0) }
        let found = try await ledger.read { reader throws(StoreFailure) in try reader.transactions(keys) }
        #expect(found.map(\.id.number) == (1...Int64(found.count)).map(\.self))
        #expect((first...last).contains(Int64(found.count)))
        await ledger.close()
    }
}
