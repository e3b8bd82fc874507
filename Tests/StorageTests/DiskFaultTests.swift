import Foundation
import PurchaseModel
import Storage
import Testing

/// A disk that is full or fails at one call of a writer's way.
@Suite(.serialized, .enabled(if: StoreProbe.canBeTraced, "strace is missing or not permitted: no fault is injected"))
struct DiskFaultTests {
    static let purchases: Int64 = 6

    /// A sync that failed may have lost a page of which the kernel says no more: nothing is promised after it.
    @Test(arguments: 1...8)
    func afterAFailedSyncNothingMoreIsAcknowledged(place: Int) async throws {
        let said = try await Self.run(inject: "fdatasync:error=EIO:when=\(place)")
        let answers = said.prefix(Int(Self.purchases)).map { $0.drop { $0 != " " }.dropFirst() }
        let failed = answers.firstIndex { $0 != "new" } ?? answers.count
        #expect(answers[failed...].allSatisfy { $0.hasPrefix("broken") })
        // The second is the folder's, which SQLite does not report; opening the store has synced it before.
        #expect(place == 2 || place > 4 || failed < answers.count)
    }

    @Test(arguments: 1...24)
    func aWriteForWhichThereWasNoSpaceIsRefusedAndTheNextGoesOn(place: Int) async throws {
        let said = try await Self.run(inject: "pwrite64:error=ENOSPC:when=\(place)")
        let answers = said.prefix(Int(Self.purchases)).map { $0.drop { $0 != " " }.dropFirst() }
        #expect(answers.allSatisfy { $0 == "new" || $0 == "full" })
        #expect(answers.count { $0 == "full" } <= 1)
    }

    /// A part of it is written before its commit. Where that finds no space SQLite may end the transaction by itself, and
    /// what the same write goes on to do would hold alone.
    @Test(arguments: [22, 24, 26, 28])
    func aLongDecisionForWhichThereWasNoSpaceLeavesNothing(place: Int) async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            try await StoreProbe.prepare(data)
            let said = try await StoreProbe.run(
                folder: data,
                purchases: 1,
                way: "long",
                options: ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC:when=\(place)"]
            )
            // Before its commit, or this would say nothing.
            #expect(said == ["0 new", "long stopped: full", "long full", "1 new", "closed"])
            let store = try SQLiteStore.open(folder: data)
            #expect(try await store.integrityProblems() == [])
            let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.transactions == 2)
            #expect(figures.submissions == 2)
            await store.close()
        }
    }

    /// The index of the log grows with the log, by 32 KiB for some 4,000 pages. Where there is no space for it nothing of the
    /// data was lost, and the next write goes on; SQLite calls it an error of the disk.
    @Test(arguments: [1, 4, 8])
    func anIndexOfTheLogForWhichThereWasNoSpaceIsNoBrokenDisk(place: Int) async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            try await StoreProbe.prepare(data)
            // While somebody reads it is there already, and is written eight times to make it longer, once for each page.
            let ledger = try ReadOnlyLedger.open(folder: data)
            #expect(try await ledger.integrityProblems() == [])
            let options = ["-P", data + "/assay.sqlite-shm", "-e", "inject=pwrite64:error=ENOSPC:when=\(place)"]
            let said = try await StoreProbe.run(folder: data, purchases: 250, way: "unchecked", options: options)
            #expect(said.count { $0.hasSuffix(" full") } == 1)
            #expect(said.count { $0.hasSuffix(" new") } == 249)
            await ledger.close()
            let store = try SQLiteStore.open(folder: data)
            #expect(try await store.integrityProblems() == [])
            let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.transactions == 249)
            await store.close()
        }
    }

    @Test func aDiskThatStaysFullRefusesEveryWrite() async throws {
        let said = try await Self.run(inject: "pwrite64:error=ENOSPC:when=9+")
        #expect(said.dropFirst(5).prefix(1) == ["5 full"])
    }

    @Test(arguments: [1, 4, 7, 10, 13, 16, 19, 22])
    func afterAFailedWriteNothingMoreIsAcknowledged(place: Int) async throws {
        let said = try await Self.run(inject: "pwrite64:error=EIO:when=\(place)")
        let answers = said.prefix(Int(Self.purchases)).map { $0.drop { $0 != " " }.dropFirst() }
        let failed = answers.firstIndex { $0 != "new" } ?? answers.count
        #expect(answers[failed...].allSatisfy { $0.hasPrefix("broken") })
    }

    /// Runs the writer over a faulty disk, and looks whether all that it acknowledged is there on a sound one.
    private static func run(inject fault: String) async throws -> [String] {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            try await StoreProbe.prepare(data)
            let call = fault.prefix { $0 != ":" }
            let said = try await StoreProbe.run(
                folder: data,
                purchases: purchases,
                options: ["-e", "trace=\(call)", "-e", "inject=\(fault)"]
            )
            let store = try SQLiteStore.open(folder: data)
            #expect(try await store.integrityProblems() == [])
            let keys = try StoreProbe.acknowledged(in: said).map { try Samples.key($0, app: "probe") }
            let found = try await store.read { reader throws(StoreFailure) in try reader.transactions(keys) }
            #expect(found.map(\.key) == keys)
            await store.close()
            return said
        }
    }
}
