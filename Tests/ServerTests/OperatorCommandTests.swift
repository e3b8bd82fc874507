import Encoding
import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// `assay check`, `migrate`, `backup` and `restore` as an operator runs them, beside a server and without one.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct OperatorCommandTests {
    private static func json(_ words: [String], code: Int32 = 0) async throws -> JSONObject {
        let run = try await Program.run(words + ["--json"])
        #expect(run.code == code, "\(run.errorText)")
        #expect(run.errors == [])
        return try #require(try JSONDocument(run.output.dropLast()).root.object)
    }

    // MARK: check

    @Test func aSoundLedgerIsSaidToBeSoundBesideItsServer() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            for number in Int64(1)...40 { _ = await server.post(Purchase.body(try Purchase.jws(number))) }
            #expect(await server.post(Purchase.body("170000029449420"))?.status == 202)
            let sound = try await Self.json(["check", "--data", folder.data])
            #expect(sound["is_sound"]?.bool == true)
            #expect(sound["transactions"]?.int64 == 40)
            #expect(sound["fulfilments"]?.int64 == 40)
            #expect(sound["submissions"]?.int64 == 1)
            #expect(sound["violations"]?.int64 == 0)
            let counts = try #require(sound["counts"]?.object)
            #expect(counts.members.map(\.key).contains("balance_differs"))
            #expect(counts.members.allSatisfy { $0.value.int64 == 0 })
            server.stop()
            #expect(await server.exitCode() == 0)
            let text = try await Program.run(["check", "--config", folder.configuration])
            #expect(text.code == 0)
            #expect(text.text.hasPrefix("sound\n  transactions   40\n  fulfilments    40\n"))
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func whatAnotherHandChangedIsALine() async throws {
        try await ServerFolder.with { folder in
            let id = try await Self.record(3, in: folder)
            try Tampering.run(
                "UPDATE fulfilments SET decided_at = 5, reason = 'gone' WHERE transaction_id = \(id)",
                folder
            )
            let text = try await Program.run(["check", "--data", folder.data])
            #expect(text.code == 1)
            let lines = text.text.split(separator: "\n")
            #expect(lines.first == "not sound")
            #expect(
                lines.dropFirst().first == """
                      row_unreadable row=fulfilments \(id)/3/\(id): the row cannot be read; something else wrote to the \
                    database: compare with a backup
                    """
            )
            let found = try await Self.json(["check", "--data", folder.data], code: 1)
            #expect(found["is_sound"]?.bool == false)
            #expect(found["counts"]?.object?["row_unreadable"]?.int64 == 1)
            let first = try #require(found["listed"]?.array?.first { _ in true }?.object)
            #expect(first["code"]?.string == "row_unreadable")
            #expect(first["row"]?.string == "fulfilments \(id)/3/\(id)")
        }
    }

    @Test func aDamagedFileIsSaidToBeDamaged() async throws {
        try await ServerFolder.with { folder in
            _ = try await Self.record(40, in: folder)
            let file = URL(filePath: folder.data + "/assay.sqlite")
            var bytes = Array(try Data(contentsOf: file))
            // The head of the last page: what it holds can be told no more.
            for place in bytes.count - 4_096..<bytes.count - 4_080 { bytes[place] ^= 0x5A }
            try Data(bytes).write(to: file)
            let damaged = try await Program.run(["check", "--data", folder.data])
            #expect(damaged.code == 1)
            #expect(damaged.text.hasPrefix("damaged\n  problem "))
            #expect(try await Self.json(["check", "--data", folder.data], code: 1)["is_sound"]?.bool == false)
        }
    }

    // MARK: migrate

    @Test func aNewFolderIsBroughtUpToDateOnce() async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/ledger"
            let names = SQLiteStore.migrationNames
            let dry = try await Program.run(["migrate", "--dry-run", "--data", data])
            #expect(dry.text == names.map { "would apply \($0)\n" }.joined())
            #expect(dry.code == 0)
            #expect(!FileManager.default.fileExists(atPath: data))
            let first = try await Program.run(["migrate", "--data", data])
            #expect(first.text == names.map { "applied \($0)\n" }.joined())
            #expect(names.first == "sqlite_0001")
            for words in [["migrate"], ["migrate", "--dry-run"]] {
                #expect(try await Program.run(words + ["--data", data]).text == "up to date\n")
            }
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func aDatabaseIsBroughtUpToDateAndChecked() async throws {
        let url = try #require(TestDatabase.url)
        let schema = TestDatabase.freshName()
        let flags = ["--database-url", url, "--database-schema", schema]
        defer { _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
        let names = PostgreSQLStore.migrationNames
        let absent = try await Program.run(["check"] + flags)
        #expect(absent.code == 2)
        #expect(absent.errorText.hasSuffix(": there is no ledger yet\n"), "\(absent.errorText)")
        #expect(
            try await Program.run(["migrate", "--dry-run"] + flags).text
                == names.map { "would apply \($0)\n" }.joined()
        )
        #expect(try await Program.run(["migrate"] + flags).text == names.map { "applied \($0)\n" }.joined())
        #expect(try await Program.run(["migrate"] + flags).text == "up to date\n")
        #expect(try await Self.json(["check"] + flags)["is_sound"]?.bool == true)
        try TestDatabase.query("DELETE FROM \(schema).migrations WHERE number > 1")
        try TestDatabase.query("DELETE FROM \(schema).migration_steps WHERE number > 1")
        let older = try await Program.run(["check"] + flags)
        #expect(older.code == 2)
        #expect(older.errorText.contains("an older version of Assay"))
        let backup = try await Program.run(["backup", "--to", "/nonexistent/copy"] + flags)
        #expect(backup.code == 2)
        #expect(backup.errorText.contains("pg_dump"))
    }

    // MARK: backup and restore

    @Test func aCopyOfARunningServersLedgerCanBeServed() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            for number in Int64(1)...5 { _ = await server.post(Purchase.body(try Purchase.jws(number))) }
            let copy = folder.path + "/copy.sqlite"
            let made = try await Program.run(["backup", "--data", folder.data, "--to", copy])
            #expect(made.text == "copied to \(copy)\n")
            #expect(made.code == 0)
            for path in [copy, copy + ".sha256"] {
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            }
            let sum = try await Program.run(
                ["-c", "copy.sqlite.sha256"],
                instead: "/usr/bin/sha256sum",
                in: folder.path
            )
            #expect(sum.text == "copy.sqlite: OK\n")
            let again = try await Program.run(["backup", "--data", folder.data, "--to", copy])
            #expect(again.code == 2)
            #expect(again.errorText.contains("copy.sqlite is there already; nothing is overwritten"))

            let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            let verified = try await Program.run(["backup", "--verify", copy])
            #expect(verified.text.hasPrefix("sound\n  transactions   5\n"))
            #expect(verified.code == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)

            // What comes after the copy is not in it.
            #expect(await server.post(Purchase.body(try Purchase.jws(6)))?.result == "recorded")
            server.stop()
            #expect(await server.exitCode() == 0)
            let other = folder.path + "/other"
            let restored = try await Program.run(["restore", "--from", copy, "--data", other])
            let said = try #require(restored.text.components(separatedBy: "\nrestored to \(other)\n").last)
            // What comes back with the copy, and what nobody tells again.
            #expect(said.contains("whose newest proof is of 2"))
            for name in ["keys", "accounts", "webhooks", "by hand", "consents", "balances", "orders", "events"] {
                #expect(said.contains("\n  \(name)  "))
            }
            #expect(restored.code == 0)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: other).sorted() == ["assay.lock", "assay.sqlite"]
            )
            let second = try await folder.serve("--data", other)
            #expect(await second.post(Purchase.body(try Purchase.jws(5)))?.result == "already_recorded")
            #expect(await second.post(Purchase.body(try Purchase.jws(6)))?.result == "recorded")
        }
    }

    @Test func whatIsNoGoodCopyIsNotRestored() async throws {
        try await ServerFolder.with { folder in
            _ = try await Self.record(3, in: folder)
            let (copy, other) = (folder.path + "/copy.sqlite", folder.path + "/other")
            #expect(try await Program.run(["backup", "--data", folder.data, "--to", copy]).code == 0)
            func restore(to data: String) async throws -> Program.Run {
                try await Program.run(["restore", "--from", copy, "--data", data])
            }
            let taken = try await restore(to: folder.data)
            #expect(taken.code == 2)
            #expect(taken.errorText.contains("is not empty"))
            let digest = try Data(contentsOf: URL(filePath: copy + ".sha256"))
            try FileManager.default.removeItem(atPath: copy + ".sha256")
            #expect(try await restore(to: other).errorText.contains("is missing or is no SHA-256"))
            try digest.write(to: URL(filePath: copy + ".sha256"))
            let good = try Data(contentsOf: URL(filePath: copy))
            try (good.dropLast() + [good[good.count - 1] ^ 1]).write(to: URL(filePath: copy))
            let altered = try await restore(to: other)
            #expect(altered.code == 2)
            #expect(altered.errorText.contains("are not those of its SHA-256"))
            #expect(try await Program.run(["backup", "--verify", copy]).code == 2)
            // A failed attempt leaves a folder that the next one takes, and so does a disk that is new.
            try FileManager.default.createDirectory(atPath: other + "/lost+found", withIntermediateDirectories: true)
            try good.write(to: URL(filePath: copy))
            // Other tools write the digits of a digest in capitals.
            let capitals = String(decoding: digest, as: UTF8.self).uppercased()
            try Data(capitals.utf8).write(to: URL(filePath: copy + ".sha256"))
            #expect(try await restore(to: other).code == 0)
        }
    }

    /// What one has unpacked and looked at must be what it gives the ledger's name.
    @Test func ofTwoRestoresToOneFolderOneIsRefused() async throws {
        try await ServerFolder.with { folder in
            _ = try await Self.record(3, in: folder)
            let (copy, other) = (folder.path + "/copy.sqlite", folder.path + "/other")
            #expect(try await Program.run(["backup", "--data", folder.data, "--to", copy]).code == 0)
            // As the first one holds it, once it has looked at its copy.
            let unpacked = other + "/restoring"
            try FileManager.default.createDirectory(atPath: unpacked, withIntermediateDirectories: true)
            try ServerFolder.write([1], unpacked + "/assay.sqlite")
            let words = ["restore", "--from", copy, "--data", other]
            let lock = try FolderLock(in: other)
            let second = try await Program.run(words)
            #expect(second.code == 2 && second.errorText.contains("another process has the data folder open"))
            #expect(FileManager.default.contents(atPath: unpacked + "/assay.sqlite") == Data([1]))
            withExtendedLifetime(lock) {}
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func violationsAreRestoredOnlyWhenAsked() async throws {
        try await ServerFolder.with { folder in
            let id = try await Self.record(3, in: folder)
            try Tampering.run("UPDATE fulfilments SET unit = 'x' WHERE transaction_id = \(id)", folder)
            let (copy, other) = (folder.path + "/copy.sqlite", folder.path + "/other")
            #expect(try await Program.run(["backup", "--data", folder.data, "--to", copy]).code == 0)
            #expect(try await Program.run(["backup", "--verify", copy]).code == 1)
            let words = ["restore", "--from", copy, "--data", other]
            let refused = try await Program.run(words)
            #expect(refused.code == 1)
            #expect(refused.text.contains("grant_incomplete"))
            #expect(refused.text.hasSuffix("not restored\n"))
            let accepted = try await Program.run(words + ["--accept-violations"])
            #expect(accepted.code == 0)
            #expect(accepted.text.contains("grant_incomplete"))
        }
    }

    @Test(arguments: [
        (["check"], "there is no ledger yet"),
        (["check", "--audit-head", "12:34"], "\"12:34\" is no head of the audit log"),
        (["backup"], "one of --to and --verify is needed"),
        (["backup", "--to", "a", "--verify", "b"], "one of --to and --verify is needed"),
        (["backup", "--to", "/nonexistent/copy"], "there is no ledger yet"),
        (["restore"], "--from is needed"), (["migrate", "--database-url", "x"], "the configuration cannot be used"),
    ])
    func whatCannotBeDoneIsSaid(words: [String], message: String) async throws {
        try await TemporaryFolder.with { folder in
            let run = try await Program.run(words + (words.contains("--database-url") ? [] : ["--data", folder]))
            #expect(run.code == 2)
            #expect(run.errorText.contains(message), "\(run.errorText)")
            #expect(run.output == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test func helpNamesEveryFlag() async throws {
        let help = try await Program.run(["backup", "--help"])
        #expect(help.text == Self.backupHelp)
        let all = try await Program.run(["--help"])
        for name in ["migrate", "check", "backup", "restore"] { #expect(all.text.contains("\n  \(name) ")) }
    }

    private static let backupHelp = """
        Copies a folder's ledger to a file, or tries a copy out.

        Usage:
          assay backup [flags]

        Flags:
          --to FILE                     The copy; its SHA-256 goes to FILE.sha256. Neither may be there.
          --verify FILE                 Restores this copy beside it, checks it, and deletes that again.
          --json                        One JSON object instead of text.
          --config FILE                 JSON file with the configuration.
          --data FOLDER                 Folder of the ledger.
          --database-url URL            PostgreSQL database of the ledger, instead of the folder.
          --database-schema NAME        Schema of the ledger in that database.
          --database-pooled true|false  true behind a pooler that lends sessions for one transaction.
          --help                        Print this help.

        A server may write meanwhile. A PostgreSQL database is for pg_dump or pgBackRest.

        Exits with 0 when it is done, 1 when a copy is not sound, 2 when it could not be made or read.

        Examples:
          # beside a running server
          assay backup --data /var/lib/assay --to /backup/monday.sqlite
          # whether it could be restored
          assay backup --verify /backup/monday.sqlite

        """

    /// Records so many purchases by a server that is gone afterwards; tells the first one's number.
    private static func record(_ count: Int64, in folder: ServerFolder) async throws -> String {
        let server = try await folder.serve()
        for number in 1...count { _ = await server.post(Purchase.body(try Purchase.jws(number))) }
        server.stop()
        #expect(await server.exitCode() == 0)
        return "\(try Purchase.transaction(1).id)"
    }
}

/// Another hand on a ledger that nobody has open.
enum Tampering {
    struct Failed: Error {}

    static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    static func run(_ statement: String, _ folder: ServerFolder) throws {
        let script = """
            import sqlite3, sys
            file = sqlite3.connect(sys.argv[1], isolation_level=None)
            file.execute("PRAGMA ignore_check_constraints = 1")
            file.execute(sys.argv[2])
            """
        let file = folder.data + "/assay.sqlite"
        let process = ChildProcess(["/usr/bin/python3", "-c", script, file, statement])
        guard try process.start().waitUntilExit() == 0 else { throw Failed() }
    }
}
