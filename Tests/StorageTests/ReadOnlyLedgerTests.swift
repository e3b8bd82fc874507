import Foundation
import PurchaseModel
import Storage
import Testing

/// Whoever only looks at a ledger neither disturbs its server nor changes the file.
@Suite struct ReadOnlyLedgerTests {
    private static func count(_ ledger: ReadOnlyLedger) async throws -> Int {
        try await ledger.read { reader throws(StoreFailure) in try reader.figures().transactions }
    }

    @Test func itSeesWhatTheWriterCommitsAndClaimsNothing() async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            let store = try SQLiteStore.open(folder: data)
            try await Purchases.record(1...3, in: store)
            let ledger = try ReadOnlyLedger.open(folder: data)
            #expect(try await Self.count(ledger) == 3)
            try await Purchases.record(4...5, in: store)
            #expect(try await Self.count(ledger) == 5)
            #expect(try await ledger.integrityProblems() == [])
            // A snapshot that stays open stops no write, and a second look stops nobody either.
            let other = try ReadOnlyLedger.open(folder: data)
            await ledger.close()
            try await Purchases.record(6...6, in: store)
            #expect(try await Self.count(other) == 6)
            await store.close()
            let next = try SQLiteStore.open(folder: data)
            #expect(try await Purchases.count(in: next) == 6)
            await next.close()
            await other.close()
            await #expect(throws: StoreFailure.closed) { try await Self.count(other) }
        }
    }

    @Test func itLeavesTheFileAsItIs() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder, 1...3)
            let file = folder + "/assay.sqlite"
            let before = FileManager.default.contents(atPath: file)
            let ledger = try ReadOnlyLedger.open(folder: folder)
            #expect(try await Self.count(ledger) == 3)
            #expect(try await ledger.integrityProblems() == [])
            await ledger.close()
            #expect(FileManager.default.contents(atPath: file) == before)
            let store = try SQLiteStore.open(folder: folder)
            #expect(try await Purchases.count(in: store) == 3)
            await store.close()
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(left == ["assay.lock", "assay.sqlite"])
        }
    }

    /// After a power cut much of the ledger is in its log, and stays there for who writes next.
    @Test func itReadsALogThatNobodyBroughtIn() async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.record(1...3, in: store)
            try FileManager.default.createDirectory(atPath: folder + "/copy", withIntermediateDirectories: false)
            for name in ["assay.sqlite", "assay.sqlite-wal"] {
                try FileManager.default.copyItem(atPath: "\(folder)/data/\(name)", toPath: "\(folder)/copy/\(name)")
            }
            await store.close()
            let log = FileManager.default.contents(atPath: folder + "/copy/assay.sqlite-wal")
            let ledger = try ReadOnlyLedger.open(folder: folder + "/copy")
            #expect(try await Self.count(ledger) == 3)
            await ledger.close()
            #expect(FileManager.default.contents(atPath: folder + "/copy/assay.sqlite-wal") == log)
            let copy = try SQLiteStore.open(folder: folder + "/copy")
            #expect(try await Purchases.count(in: copy) == 3)
            await copy.close()
        }
    }

    @Test func whatIsNoLedgerIsNamedAndNothingIsMade() async throws {
        try await TemporaryFolder.with { folder in
            #expect(throws: StoreOpenFailure.absent) { try ReadOnlyLedger.open(folder: folder) }
            #expect(throws: StoreOpenFailure.inaccessible(path: folder + "/none", errno: ENOENT)) {
                try ReadOnlyLedger.open(folder: folder + "/none")
            }
            #expect(throws: StoreOpenFailure.inaccessible(path: "", errno: EINVAL)) {
                try ReadOnlyLedger.open(folder: "")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            let file = folder + "/assay.sqlite"
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/null")
            #expect(throws: StoreOpenFailure.inaccessible(path: file, errno: ELOOP)) {
                try ReadOnlyLedger.open(folder: folder)
            }
            try FileManager.default.removeItem(atPath: file)
            for (bytes, failure) in [
                (Data(), StoreOpenFailure.absent), (Data("not a database, but long enough to be one".utf8), .foreign),
            ] {
                try bytes.write(to: URL(filePath: file))
                #expect(throws: failure) { try ReadOnlyLedger.open(folder: folder) }
                #expect(FileManager.default.contents(atPath: file) == bytes)
            }
        }
    }

    @Test func damageIsFound() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder, 1...60)
            let file = folder + "/assay.sqlite"
            var bytes = Array(try Data(contentsOf: URL(filePath: file)))
            // The last page is some table's or index's: its head says how many cells there are.
            for place in bytes.count - 4_096..<bytes.count - 4_080 { bytes[place] ^= 0x5A }
            try Data(bytes).write(to: URL(filePath: file))
            let ledger = try ReadOnlyLedger.open(folder: folder)
            let problems = try? await ledger.integrityProblems()
            #expect(problems != [])
            await ledger.close()
        }
    }
}
