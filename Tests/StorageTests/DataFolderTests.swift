import Foundation
import PurchaseModel
import Storage
import Synchronization
import Testing

/// What a store makes of the folder that it is given.
@Suite struct DataFolderTests {
    @Test func nobodyElseMayReadTheFiles() async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            let store = try SQLiteStore.open(folder: data)
            try await Purchases.record(1...3, in: store)
            #expect(try Self.mode(of: data) == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: data).sorted()
            #expect(names == ["assay.lock", "assay.sqlite", "assay.sqlite-shm", "assay.sqlite-wal"])
            for name in names { #expect(try Self.mode(of: "\(data)/\(name)") == 0o600, "\(name)") }
            await store.close()
            // The last connection is the writer's: it removes the log.
            let left = try FileManager.default.contentsOfDirectory(atPath: data).sorted()
            #expect(left == ["assay.lock", "assay.sqlite"])
        }
    }

    /// Whoever restores or imports is often root, and the server is not.
    @Test(.enabled(if: geteuid() == 0, "only root makes files for others"))
    func whatRootMakesInAnotherUsersFolderIsThatUsers() async throws {
        try await TemporaryFolder.with { folder in
            let (data, other) = (folder + "/data", folder + "/other")
            for path in [data, other] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try Self.give(path, to: 65_534)
            }
            let store = try SQLiteStore.open(folder: data)
            try await Purchases.record(1...3, in: store)
            for name in ["assay.lock", "assay.sqlite", "assay.sqlite-shm", "assay.sqlite-wal"] {
                #expect(try Self.owner(of: "\(data)/\(name)") == 65_534, "\(name)")
            }
            await store.close()
            // A copy that root has unpacked elsewhere.
            try FileManager.default.copyItem(atPath: data + "/assay.sqlite", toPath: folder + "/copy")
            try Self.give(folder + "/copy", to: 0)
            try SQLiteStore.adopt(folder + "/copy", in: other, holding: try FolderLock(in: other))
            for name in ["assay.lock", "assay.sqlite"] { #expect(try Self.owner(of: "\(other)/\(name)") == 65_534) }
        }
    }

    /// What was there before may be any file of the machine under a second name, and root gives nothing of it away.
    @Test(.enabled(if: geteuid() == 0, "only root makes files for others"))
    func whatWasThereIsGivenToNobody() async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
            try Self.give(data, to: 65_534)
            for name in ["assay.lock", "secret"] { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
            try FileManager.default.linkItem(atPath: folder + "/assay.lock", toPath: data + "/assay.lock")
            try FileManager.default.linkItem(atPath: folder + "/secret", toPath: data + "/copy")
            await (try SQLiteStore.open(folder: data)).close()
            #expect(try Self.owner(of: folder + "/assay.lock") == 0)
            try FileManager.default.removeItem(atPath: data + "/assay.sqlite")
            try SQLiteStore.adopt(data + "/copy", in: data, holding: try FolderLock(in: data))
            #expect(try Self.owner(of: folder + "/secret") == 0)
        }
    }

    @Test func aFileThatWasOpenToOthersIsClosedToThem() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder + "/data", 1...1)
            let file = folder + "/data/assay.sqlite"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let store = try SQLiteStore.open(folder: folder + "/data")
            #expect(try Self.mode(of: file) == 0o600)
            await store.close()
        }
    }

    @Test func aSecondWriterIsRefusedUntilTheFirstCloses() async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder)
            #expect(throws: StoreOpenFailure.alreadyOpen) { try SQLiteStore.open(folder: folder) }
            // Another name of the same folder is no way around it.
            #expect(throws: StoreOpenFailure.alreadyOpen) { try SQLiteStore.open(folder: folder + "/./") }
            try await Purchases.record(1...1, in: first)
            await first.close()
            let second = try SQLiteStore.open(folder: folder)
            #expect(try await Purchases.count(in: second) == 1)
            await second.close()
        }
    }

    /// A descriptor that is closed twice is, the second time, somebody else's.
    @Test func aRefusedStoreClosesNothingOfOthers() async throws {
        try await TemporaryFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder)
            let neighbour = Neighbour()
            async let lost = withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: neighbour.opensAndCloses()) }
            }
            for _ in 0..<60_000 {
                #expect(throws: StoreOpenFailure.alreadyOpen) { try SQLiteStore.open(folder: folder) }
            }
            neighbour.stop()
            #expect(await lost == 0)
            await store.close()
        }
    }

    /// Opens and closes files of its own, as another thread of the server does.
    private final class Neighbour: Sendable {
        private let isOver = Mutex(false)

        func stop() { isOver.withLock { $0 = true } }

        /// - Returns: how many of its files were no longer open when it closed them.
        func opensAndCloses() -> Int {
            var lost = 0
            while !isOver.withLock(\.self) {
                let mine = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
                sched_yield()
                if close(mine) != 0 { lost += 1 }
            }
            return lost
        }
    }

    @Test func aStoreThatIsForgottenLetsGoOfItsFolder() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.record(1...1, in: SQLiteStore.open(folder: folder))
            // The last to let go may be the store's own thread, a moment later.
            var opened: SQLiteStore?
            for _ in 0..<2_000 where opened == nil {
                opened = try? SQLiteStore.open(folder: folder)
                if opened == nil { usleep(1_000) }
            }
            let second = try #require(opened)
            #expect(try await Purchases.count(in: second) == 1)
            await second.close()
        }
    }

    /// SQLite would take it for a URI, open another file, and heed what stands behind the question mark.
    @Test func aFolderMayBeNamedLikeAURI() async throws {
        // A URI cannot be absolute here and the name of a folder, too.
        let folder = "file:assay-\(UInt64.random(in: .min ... .max))?psow=0"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteStore.open(folder: folder)
        try await Purchases.record(1...3, in: store)
        await store.close()
        let size = try FileManager.default.attributesOfItem(atPath: folder + "/assay.sqlite")[.size] as? Int
        #expect(try #require(size) > 4_096)
    }

    @Test(arguments: ["", "/nowhere/at/all", "/dev/null", "a\u{0}b"])
    func aFolderThatCannotBeIsNamed(path: String) {
        #expect {
            try SQLiteStore.open(folder: path)
        } throws: { error in
            guard case .inaccessible(let named, _) = error as? StoreOpenFailure else { return false }
            return named.utf8.starts(with: path.utf8)
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere: run as another user to see this"))
    func aFolderThatMayNotBeWrittenIsNamed() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
            #expect(throws: StoreOpenFailure.inaccessible(path: folder + "/assay.lock", errno: EACCES)) {
                try SQLiteStore.open(folder: folder)
            }
        }
    }

    @Test func aLinkInPlaceOfTheDatabaseIsNotFollowed() async throws {
        try await TemporaryFolder.with { folder in
            try Data("not yours".utf8).write(to: URL(filePath: folder + "/other"))
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/assay.sqlite",
                withDestinationPath: folder + "/other"
            )
            #expect(throws: StoreOpenFailure.inaccessible(path: folder + "/assay.sqlite", errno: ELOOP)) {
                try SQLiteStore.open(folder: folder)
            }
            #expect(FileManager.default.contents(atPath: folder + "/other") == Data("not yours".utf8))
        }
    }

    private static func give(_ path: String, to user: Int) throws {
        try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: path)
    }

    private static func owner(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? Int)
    }

    private static func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
