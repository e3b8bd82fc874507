import Crypto
import Encoding
import Foundation
import HTTP
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

@testable import Server

/// What the doctor says of the machine and the ledger, a fault at a time.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct DoctorMachineTests {
    private static let quiet = ["--offline", "--config"]

    private static func findings(_ folder: ServerFolder, _ flags: String..., code: Int32 = 1) async throws -> Findings {
        let run = try await Program.run(["doctor", "--json"] + quiet + [folder.configuration] + flags)
        #expect(run.code == code, "\(run.text)\(run.errorText)")
        return try Findings(run)
    }

    private static func serveOnce(_ folder: ServerFolder) async throws {
        let server = try await folder.serve()
        server.stop()
        #expect(await server.exitCode() == 0)
    }

    private static func chmod(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private static func give(_ path: String, to user: Int) throws {
        try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: path)
    }

    // MARK: Files

    @Test func whoMayReadASecretIsTold() async throws {
        try await ServerFolder.with { folder in
            try Self.chmod(0o644, folder.path + "/key")
            let found = try await Self.findings(folder)
            #expect(found.lines.count == 1)
            #expect(
                try #require(found.of("configuration").first?.found).contains("every user of this machine can read")
            )
        }
    }

    @Test func whoMayChangeASettingOrReadTheLedgerIsTold() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            #expect(try await Self.findings(folder).of("files").map(\.status) == ["ok"])
            try Self.chmod(0o666, folder.configuration)
            try Self.chmod(0o755, folder.data)
            let found = try await Self.findings(folder).of("files")
            #expect(found.map(\.fix) == ["chmod go-w \(folder.configuration)", "chmod o-rwx \(folder.data)"])
            #expect(found.map(\.status) == ["fail", "fail"])
            #expect(found.first?.found.contains("0666") == true)
        }
    }

    // MARK: The ledger

    /// Also to root, who may open them all.
    @Test(.enabled(if: geteuid() == 0, "only root makes files for others"))
    func aFileOfAnotherUsersThanTheFoldersIsTold() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            for path in [folder.data, folder.data + "/assay.lock"] { try Self.give(path, to: 65_534) }
            let told = try await Self.findings(folder).of("ledger").filter { $0.status == "fail" }
            #expect(told.map(\.fix) == ["chown --reference=\(folder.data) \(folder.data)/assay.*"])
            let said = ": assay.sqlite: of another user than the server's, user 65534, whose the folder is"
            #expect(told.first?.found.hasSuffix(said) == true)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.data) {
                try Self.give(folder.data + "/" + name, to: 65_534)
            }
            #expect(try await Self.findings(folder).of("ledger").map(\.status) == ["ok"])
        }
    }

    @Test func aLedgerThatIsNotThereYetIsAWarning() async throws {
        try await ServerFolder.with { folder in
            let found = try await Self.findings(folder)
            let ledger = try #require(found.of("ledger").first)
            #expect(ledger.status == "warn" && ledger.fix == "assay serve makes it")
        }
    }

    @Test func nobodyWhoCanSignInIsAWarning() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            let found = try await Self.findings(folder)
            #expect(found.of("dashboard").first?.fix.contains("first_account") == true)
            #expect(found.of("ledger").first?.found.hasSuffix(SQLiteStore.migrationNames.last ?? "?") == true)
        }
    }

    /// Each row: what another hand did to the file, and what is said.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 changes the file"),
        arguments: [
            (statement: "PRAGMA user_version = 1", check: "ledger", status: "warn", said: "an older version"),
            ("PRAGMA user_version = 9999", "ledger", "fail", "a newer version"),
            ("PRAGMA journal_mode = DELETE", "durability", "fail", "journal_mode is delete"),
        ]
    )
    func whatAnotherProgramDidIsTold(statement: String, check: String, status: String, said: String) async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])"
            let words = ["/usr/bin/python3", "-c", script, folder.data + "/assay.sqlite", statement]
            #expect(try ChildProcess(words).start().waitUntilExit() == 0)
            let finding = try #require(try await Self.findings(folder).of(check).first)
            #expect(finding.status == status && finding.found.contains(said), "\(finding)")
        }
    }

    @Test func aDamagedFileIsTold() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            try Data(repeating: 0x5A, count: 8_192).write(to: URL(filePath: folder.data + "/assay.sqlite"))
            #expect(try await Self.findings(folder).of("ledger").first?.status == "fail")
        }
    }

    @Test func copiesAreAskedFor() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            let copies = folder.path + "/copies"
            try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: false)
            func copy() async throws -> Findings.Line? {
                try await Self.findings(folder, "--backups", copies).of("backup").first
            }
            #expect(try await copy()?.found == "no copy lies there")
            let made = try await Program.run(["backup", "--data", folder.data, "--to", copies + "/monday"])
            #expect(made.code == 0)
            #expect(try await copy()?.status == "ok")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3 * 86_400)],
                ofItemAtPath: copies + "/monday.sha256"
            )
            let old = try #require(try await copy())
            #expect(old.status == "warn" && old.found == "the newest copy is 72 h old")
            // A digest is no copy.
            let monday = try Data(contentsOf: URL(filePath: copies + "/monday"))
            try FileManager.default.removeItem(atPath: copies + "/monday")
            #expect(try await copy()?.found == "no copy lies there")
            try Data().write(to: URL(filePath: copies + "/monday"))
            #expect(try await copy()?.found == "no copy lies there")
            try monday.write(to: URL(filePath: copies + "/monday"))
            #expect(try await copy()?.status == "warn")
        }
    }

    /// The tests' server does not sync, and its databases say so.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func aDatabaseThatDoesNotSyncIsTold() async throws {
        try await ServerFolder.with { folder in
            let schema = TestDatabase.freshName()
            defer { _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
            let flags = ["--database-url", try #require(TestDatabase.url), "--database-schema", schema]
            #expect(try await Program.run(["migrate"] + flags).code == 0)
            let run = try await Program.run(["doctor", "--json"] + Self.quiet + [folder.configuration] + flags)
            let found = try Findings(run)
            #expect(found.of("ledger").first?.status == "ok")
            let isSynced = try TestDatabase.query("SHOW fsync").contains("on")
            #expect(found.of("durability").map(\.status) == (isSynced ? ["ok"] : ["fail", "fail"]))
            let gone = ["--database-url", "postgresql://nobody@127.0.0.1:1/nothing"]
            let lost = try Findings(
                try await Program.run(["doctor", "--json"] + Self.quiet + [folder.configuration] + gone)
            )
            #expect(lost.of("ledger").first?.status == "fail")
        }
    }

    // MARK: The disk

    @Test(arguments: [("ext4", "ok"), ("tmpfs", "fail"), ("nfs4", "fail"), (nil, "ok")])
    func whereTheLedgerLiesIsTold(kind: String?, status: String) {
        #expect(CheckDisk.kind(kind, "/data").status.rawValue == status)
    }

    @Test(arguments: [(10 << 30, "ok"), (3 << 30, "warn"), (100 << 20, "fail")])
    func littleSpaceIsTold(free: Int, status: String) {
        #expect(CheckDisk.space(free, "/data").status.rawValue == status)
    }

    @Test func theNearestMountDecides() {
        let table = MountTable(
            """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            30 22 0:5 / /var/lib rw - xfs /dev/sdb rw
            31 30 0:6 / /var/lib/assay\\040two rw master:1 - tmpfs tmpfs rw
            32 22 0:7 / /var/lib rw - btrfs /dev/sdc rw
            a line of another form
            """
        )
        #expect(table.kind(of: "/etc/passwd") == "ext4")
        #expect(table.kind(of: "/var/lib/assay") == "btrfs", "the last one hides those before it")
        #expect(table.kind(of: "/var/library") == "ext4")
        #expect(table.kind(of: "/var/lib/assay two/ledger") == "tmpfs")
    }

    // MARK: The server

    @Test func aServerThatDoesNotAnswerIsTold() async throws {
        try await ServerFolder.with { folder in
            try await Self.serveOnce(folder)
            let words = ["doctor", "--json", "--config", folder.configuration, "--listen", "127.0.0.1:1"]
            let server = try Findings(try await Program.run(words)).of("server").first
            #expect(server?.status == "warn" && server?.fix.contains("assay serve") == true)
        }
    }

    @Test(arguments: [
        (200, #"{"status":"ready"}"#, "ok"), (503, #"{"code":"store_failed"}"#, "fail"),
        (404, #"{"code":"not_found"}"#, "fail"), (200, "<html>", "fail"),
    ])
    func whatAnswersForTheServerIsTold(status: Int, body: String, word: String) {
        let response = HTTPResponse(HTTPStatus(rawValue: status), body: Array(body.utf8))
        #expect(CheckServer.readiness(response, "http://here").status.rawValue == word)
    }

    @Test func whatHelpsAServerOnAFullDiskIsTold() {
        for (code, help) in [("storage_full", "make room"), ("storage_failed", "started again")] {
            let response = HTTPResponse(.serviceUnavailable, body: Array(#"{"code":"\#(code)"}"#.utf8))
            let finding = CheckServer.readiness(response, "http://here")
            #expect(finding.found.contains(code) && finding.fix?.contains(help) == true)
        }
    }

    @Test func tooFewOpenFilesAreTold() {
        #expect(CheckServer.files(1_024, 10_000).status == .warn)
        #expect(CheckServer.files(65_536, 10_000).status == .ok)
        #expect(CheckServer.files(nil, 10_000).status == .ok)
    }

    // MARK: Trust

    @Test func authoritiesThatEndAreTold() throws {
        let roots = try TestAuthority.shared.roots().map { try Certificate(der: $0) }
        var anchors = try TrustAnchors.apple()
        for root in roots { anchors.addRoot(root) }
        let provided = anchors.sightings
        func statuses(_ moment: Timestamp, _ seen: [SeenCertificate] = []) -> [Finding.Status] {
            CheckTrust.findings(provided, seen: seen, at: moment).map(\.status)
        }
        #expect(statuses(TestAuthority.moment) == [.ok])
        let last = try #require(provided.filter { $0.voucher != .apple }.map(\.facts.notAfter).max())
        #expect(statuses(last.advanced(by: .seconds(-86_400))).contains(.warn))
        #expect(statuses(last.advanced(by: .seconds(86_400))).contains(.fail))
    }

    @Test func anAuthorityThatIsNotKnownIsTold() throws {
        let unknown = SeenCertificate(
            sha256: Array(repeating: 7, count: 32),
            role: "intermediate",
            vouchedBy: "apple",
            subject: "CN=Apple Worldwide G99",
            issuer: "CN=Apple Root CA",
            serial: "01",
            notBefore: TestAuthority.moment,
            notAfter: TestAuthority.moment,
            firstSeenAt: TestAuthority.moment
        )
        let provided = try TrustAnchors.apple().sightings
        let found = CheckTrust.findings(provided, seen: [unknown], at: TestAuthority.moment)
        #expect(found.map(\.subject) == ["CN=Apple Worldwide G99"])
        #expect(found.first?.fix?.contains("trust.certificates") == true)
    }

    @Test func aFolderOfRootsWithSomethingElseIsTold() async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write(Array("no certificate".utf8), folder.roots + "/other.pem")
            #expect(try await Self.findings(folder).of("trust").first?.status == "fail")
        }
    }
}
