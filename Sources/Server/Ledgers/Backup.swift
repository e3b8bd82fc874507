import FoundationEssentials
import Glibc
import Storage

/// `assay backup`: copies a ledger to a file while a server may write to it, or tries out whether a copy is good.
struct Backup {
    private enum Work {
        case make(LedgerPlace, BackupCopy)
        case verify(BackupCopy)
    }

    private let work: Work
    private let isJSON: Bool

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        isJSON = arguments.isSet("json")
        switch (arguments.value("to"), arguments.value("verify")) {
        case (let path?, nil):
            work = .make(try LedgerPlace(arguments, environment), BackupCopy(path: path))
        case (nil, let path?): work = .verify(BackupCopy(path: path))
        default: throw UsageFault("one of --to and --verify is needed", hint: "--to /backup/monday.sqlite")
        }
    }

    func run() async -> Int32 {
        switch work {
        case .make(.database(_, let shown), _):
            Console.error(
                """
                assay backup: \(ReportText.printable(shown)): a PostgreSQL database is copied by its own tools, such as \
                pg_dump or pgBackRest; assay check then looks at what they restored
                """
            )
            return 2
        case .make(.folder(let folder), let copy): return await make(copy, of: folder)
        case .verify(let copy): return await verify(copy)
        }
    }

    private func make(_ copy: BackupCopy, of folder: String) async -> Int32 {
        let file = UnfinishedFile(copy.path)
        let signals = await StopSignals.discarding { file.discard() }
        defer { signals.cancel() }
        do {
            let ledger = try ReadOnlyLedger.open(folder: folder)
            try copy.confirmNoDigest()
            try file.make()
            var isDigestOurs = false
            let digest: String
            do {
                try await BackupCopy.fill(file.partPath, from: ledger)
                digest = try BackupCopy.digest(of: file.partPath)
                try file.finish {
                    try copy.write(digest)
                    isDigestOurs = true
                }
            } catch {
                if file.discard(), isDigestOurs { copy.removeDigest() }
                throw error
            }
            await ledger.close()
            let bytes = FileStatus(copy.path)?.size
            Console.write(
                isJSON
                    ? OperatorJSON.copied(to: copy.path, sha256: digest, bytes: bytes)
                    : Array("copied to \(copy.path)\n".utf8)
            )
            return 0
        } catch {
            signals.endIfHeard()
            // What fails as a store is the ledger; a file is named by what failed.
            let isLedger = error is StoreOpenFailure || error is StoreFailure
            let place = isLedger ? ReportText.printable(folder) + ": " : ""
            Console.error("assay backup: \(place)\(StoreSentence.of(error))")
            return 2
        }
    }

    private func verify(_ copy: BackupCopy) async -> Int32 {
        let scratch = copy.path + ".verify-\(ProcessInfo.processInfo.processIdentifier)"
        let restoration = Restoration(copy: copy, folder: scratch)
        let signals = await StopSignals.discarding { restoration.discard() }
        defer {
            restoration.discard()
            signals.cancel()
        }
        do {
            let result = try await restoration.unpackAndCheck()
            Console.write(isJSON ? CheckJSON.line(result) : Array(CheckText.text(result).utf8))
            return result.isSoundBesideAudit ? 0 : 1
        } catch {
            signals.endIfHeard()
            Console.error("assay backup: \(StoreSentence.of(error))")
            return 2
        }
    }
}

/// `assay restore`: makes a copy the ledger of a folder that has none.
struct Restore {
    private let copy: BackupCopy
    private let folder: String
    private let acceptsViolations: Bool
    private let isJSON: Bool

    init(_ arguments: Arguments) throws(UsageFault) {
        guard let path = arguments.value("from") else {
            throw UsageFault("--from is needed: the copy", hint: "--from /backup/monday.sqlite")
        }
        guard let folder = arguments.value("data"), !folder.isEmpty else {
            throw UsageFault("--data is needed: the folder", hint: "--data /var/lib/assay")
        }
        copy = BackupCopy(path: path)
        self.folder = folder
        acceptsViolations = arguments.isSet("accept-violations")
        isJSON = arguments.isSet("json")
    }

    func run() async -> Int32 {
        // Within the folder, so that the last step is a change of names and not of places.
        let restoration = Restoration(copy: copy, folder: folder + "/" + Restoration.name)
        do {
            let lock = try Restoration.prepare(folder)
            defer {
                restoration.discard()
                withExtendedLifetime(lock) {}
            }
            let result = try await restoration.unpackAndCheck()
            let isReadable = result.problems.isEmpty && result.findings != nil
            let isTaken = result.isSoundBesideAudit || isReadable && acceptsViolations
            if isTaken { try SQLiteStore.adopt(restoration.file, in: folder, holding: lock) }
            let said = CheckText.text(result) + (isTaken ? RestoreText.text(result, to: folder) : "not restored\n")
            Console.write(
                isJSON ? OperatorJSON.restored(result, to: folder, isTaken: isTaken) : Array(said.utf8)
            )
            return isTaken ? 0 : 1
        } catch {
            Console.error("assay restore: \(StoreSentence.of(error))")
            return 2
        }
    }
}

/// A copy that is unpacked and looked at, in a folder of its own.
struct Restoration {
    /// What that folder is called within the one that it is for.
    static let name = "restoring"

    let copy: BackupCopy
    let folder: String

    var file: String { folder + "/assay.sqlite" }

    /// What may be in the folder that a copy is for: what an earlier attempt left, and what a file system of its own has.
    private static let harmless: Set = [name, "assay.lock", "lost+found"]

    /// Makes the folder that a copy is for, and claims it.
    ///
    /// - Returns: the claim, for as long as the copy is unpacked and looked at: another restore would replace it meanwhile.
    /// - Throws: `StoreOpenFailure`, such as `alreadyOpen`; `FileFault`; `BackupCopy.Fault`.
    static func prepare(_ folder: String) throws -> FolderLock {
        let files = FileManager.default
        if !files.fileExists(atPath: folder) { try PrivateFolder.make(folder) }
        guard let found = try? files.contentsOfDirectory(atPath: folder) else {
            throw BackupCopy.Fault.noFolder(folder)
        }
        guard harmless.isSuperset(of: found) else { throw BackupCopy.Fault.notEmpty(folder) }
        let lock = try FolderLock(in: folder)
        try? files.removeItem(atPath: folder + "/" + name)
        return lock
    }

    func unpackAndCheck() async throws -> CheckLedger.Result {
        try PrivateFolder.make(folder)
        try copy.unpack(to: folder)
        let ledger = try await opened()
        let result = await CheckLedger.examine(.folder(ledger))
        await ledger.close()
        return try result.get()
    }

    func discard() {
        // Whoever reads the copy at this moment may make a file while the others are removed.
        for _ in 0..<10 where FileStatus(folder) != nil { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// What an older version made is brought up to date first.
    private func opened() async throws(StoreOpenFailure) -> ReadOnlyLedger {
        do throws(StoreOpenFailure) {
            return try ReadOnlyLedger.open(folder: folder)
        } catch .olderSchema {
            await (try SQLiteStore.open(folder: folder)).close()
            return try ReadOnlyLedger.open(folder: folder)
        }
    }
}
