import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

@testable import Server

/// A simulated App Store, a server that is told by it, and a configuration in which one thing can be made wrong.
struct DoctorHouse: Sendable {
    /// What is wrong. Without anything, all is good.
    struct Fault: Sendable {
        var issuer = DemoCatalogue.issuerID
        var keyID: String?
        var pem: [UInt8]?
        var hosts: String?
    }

    let folder: String
    let store: SimulatorProcess
    let server: ServerProcess

    var configuration: String { folder + "/assay.json" }
    var data: String { folder + "/ledger" }
    var key: String { folder + "/key" }
    private var here: String { "127.0.0.1:\(server.port)" }

    /// Where Apple would send to.
    var notices: String { "http://\(here)/v1/apple/notifications/demo" }

    static func with<Value>(_ fault: Fault = Fault(), _ body: (DoctorHouse) async throws -> Value) async throws -> Value
    {
        try await TemporaryFolder.with { folder in
            let house = try await DoctorHouse(folder, fault)
            try await house.tell(house.notices)
            let value = try await body(house)
            house.server.stop()
            _ = await house.server.exitCode()
            return value
        }
    }

    private init(_ folder: String, _ fault: Fault) async throws {
        self.folder = folder
        store = try await SimulatorProcess(in: folder)
        let kept = SimulatorFolder(store.folder)
        let merchant = try kept.merchantKey()
        try ServerFolder.write(Array(ServerFolder.key.utf8), folder + "/key", isSecret: true)
        try ServerFolder.write(fault.pem ?? (try merchant.key.pem()), folder + "/merchant.p8", isSecret: true)
        let base = fault.hosts ?? store.base
        let hosts = [("api", "/production"), ("api_sandbox", "/sandbox")]
        let text = JSONWriter.object { json in
            json.member("profile", "development")
            json.member("listen", "127.0.0.1:0")
            json.member("data", folder + "/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "demo")
                    json.member("bundle_id", DemoCatalogue.bundleID.text)
                    json.array("environments") { json in
                        json.element("production")
                        json.element("sandbox")
                    }
                    json.member("accept_test_signed", true)
                    json.object("app_store") { json in
                        json.member("issuer_id", fault.issuer)
                        json.member("key_id", fault.keyID ?? merchant.id)
                        json.member("private_key_file", folder + "/merchant.p8")
                        json.object("hosts") { json in
                            for (name, path) in hosts { json.member(name, base + path) }
                        }
                    }
                }
            }
            json.array("keys") { json in
                json.object { json in
                    json.member("name", "shop")
                    json.member("app", "demo")
                    json.member("secret_file", folder + "/key")
                }
            }
            json.object("trust") { json in
                json.member("roots", kept.roots)
                json.member("certificates", kept.certificates)
            }
            json.object("webhooks") { json in
                json.member("plain_hosts", "127.0.0.1")
                json.member("allowed_addresses", "127.0.0.0/8")
            }
        }
        try ServerFolder.write(text, folder + "/assay.json")
        try await Self.makeAccount(in: folder + "/ledger")
        server = try await ServerProcess(["serve", "--config", folder + "/assay.json"])
    }

    private static func makeAccount(in data: String) async throws {
        let store = try SQLiteStore.open(folder: data)
        let account = AdminAccount(
            name: AdminName(checked: "ann"),
            role: .admin,
            password: "none",
            createdAt: TestAuthority.moment
        )
        try await store.write { write throws(StoreFailure) in try write.createAdmin(account) }
        await store.close()
    }

    /// Says where notifications go.
    func tell(_ url: String) async throws { _ = try await store.run("notify", url) }

    func addEndpoint(_ url: String) async throws -> Int? {
        let body = JSONWriter.object { $0.member("url", url) }
        let port = server.port
        let answer = await Threads.run { WireClient(port: port)?.post(body, to: "/v1/webhooks") }
        return answer?.status
    }

    /// What the doctor says of the house that runs.
    func findings(_ flags: String..., code: Int32 = 1) async throws -> Findings {
        try await findings(flags, code: code)
    }

    func findings(_ flags: [String], code: Int32) async throws -> Findings {
        let listen = flags.contains("--listen") ? [] : ["--listen", here]
        let words = ["doctor", "--config", configuration, "--json"] + listen
        let run = try await Program.run(words + flags)
        #expect(run.code == code, "\(run.text)\(run.errorText)")
        return try Findings(run)
    }
}

/// The doctor's words.
struct Findings {
    struct Line {
        let check: String
        let subject: String?
        let status: String
        let found: String
        let cause: String
        let fix: String
    }

    let isGood: Bool
    let lines: [Line]

    init(_ run: Program.Run) throws {
        let json = try #require(try JSONDocument(run.output.dropLast()).root.object)
        isGood = json["is_good"]?.bool == true
        lines = try #require(json["findings"]?.array).compactMap(\.object).map { line in
            Line(
                check: line["check"]?.string ?? "",
                subject: line["subject"]?.string,
                status: line["status"]?.string ?? "",
                found: line["found"]?.string ?? "",
                cause: line["cause"]?.string ?? "",
                fix: line["fix"]?.string ?? ""
            )
        }
    }

    func of(_ check: String) -> [Line] { lines.filter { $0.check == check } }

    /// Those that are not good, by check and status; the same twice stands there once.
    var wrong: [String] {
        let wrong = lines.filter { $0.status != "ok" }.map { "\($0.check) \($0.status)" }
        return wrong.enumerated().filter { index, line in !wrong[..<index].contains(line) }.map(\.element)
    }
}
