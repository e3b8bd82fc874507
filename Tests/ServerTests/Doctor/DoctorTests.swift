import Crypto
import Encoding
import Foundation
import Storage
import TestSupport
import Testing

/// `assay doctor` over a house in which one thing is wrong: it finds that, and nothing else.
/// One house at a time: each is two servers.
@Suite(.serialized, .enabled(if: Program.isBuilt, Program.absence)) struct DoctorTests {
    private typealias Fault = DoctorHouse.Fault

    @Test func aGoodHouseIsGood() async throws {
        try await DoctorHouse.with { house in
            #expect(try await house.addEndpoint("http://127.0.0.1:\(house.store.port)/hook") == 201)
            let good = try await house.findings("--limits-connections", "100", "--wait", "14", code: 0)
            #expect(good.isGood && good.wrong == [], "\(good.lines.filter { $0.status != "ok" })")
            let checks = [
                "configuration", "files", "ledger", "durability", "dashboard", "file_system", "space", "trust",
                "server",
                "limits", "key", "host", "host", "clock", "token", "token", "notification", "notification", "webhook",
            ]
            #expect(good.lines.map(\.check) == checks)
            #expect(good.of("token").map(\.subject) == ["demo production", "demo sandbox"])
        }
    }

    // MARK: Apple

    @Test func aWrongIssuerIsAnEmptyAnswerWithItsCauses() async throws {
        var fault = Fault()
        fault.issuer = "99999999-96fe-1a63-e053-0824d011072a"
        try await DoctorHouse.with(fault) { house in
            let found = try await house.findings("--limits-connections", "100")
            #expect(found.wrong == ["token fail"])
            let token = try #require(found.of("token").first)
            #expect(token.found == "Apple answers 401, and says nothing more")
            for word in ["issuer_id", fault.issuer, "key_id", "revoked", "App Store Connect API", "com.example.demo"] {
                #expect(token.cause.contains(word))
            }
            #expect(token.fix.contains("In-App Purchase"))
            #expect(found.of("notification").isEmpty, "who is not believed has nothing sent")
        }
    }

    @Test func aKeyThatAppleForgotIsAnEmptyAnswer() async throws {
        var fault = Fault()
        fault.pem = try PrivateKey(generate: .p256).pem()
        try await DoctorHouse.with(fault) { house in
            let found = try await house.findings("--limits-connections", "100")
            #expect(found.wrong == ["token fail"])
        }
    }

    /// The simulated store stands for Apple: it is reached through the tunnel alone, and a proxy that refuses is named.
    @Test func appleIsReachedThroughTheProxy() async throws {
        try await DoctorHouse.with { house in
            let open = try ConnectProxy(in: house.folder)
            let through = ["--limits-connections", "100", "--wait", "0", "--apple-proxy"]
            let good = try await house.findings(through + ["http://127.0.0.1:\(open.port)"], code: 0)
            #expect(good.isGood, "\(good.lines.filter { $0.status != "ok" })")
            #expect(Set(open.seen) == ["CONNECT 127.0.0.1:\(house.store.port) HTTP/1.1"])
            let shut = try ConnectProxy(in: house.folder, refusing: 403)
            let refused = try await house.findings(through + ["http://127.0.0.1:\(shut.port)"], code: 1)
            #expect(refused.of("host").map(\.status) == ["fail", "fail"])
            #expect(refused.of("host").allSatisfy { $0.found.contains("proxy") && $0.fix.contains("apple.proxy") })
        }
    }

    @Test func aClockThatIsWrongIsTold() async throws {
        try await DoctorHouse.with { house in
            _ = try await house.store.run("chaos", #"{"clock_skew_seconds": 120}"#)
            let found = try await house.findings("--limits-connections", "100", "--wait", "0")
            #expect(found.wrong == ["clock fail"])
            // Apple tells whole seconds.
            #expect(try #require(found.of("clock").first?.found).contains(/(119|120|121) s behind Apple's/))
            _ = try await house.store.run("chaos", #"{"clock_skew_seconds": 15}"#)
            #expect(try await house.findings("--limits-connections", "100", "--wait", "0").wrong == ["clock warn"])
            _ = try await house.store.run("chaos", #"{"clock_skew_seconds": 120, "unauthorized": 1000}"#)
            let both = try await house.findings("--limits-connections", "100", "--wait", "0")
            #expect(both.of("clock").first?.status == "fail")
            #expect(try #require(both.of("token").first?.cause).hasPrefix("The clock is wrong"))
        }
    }

    @Test func whoCannotBeReachedIsTold() async throws {
        var fault = Fault()
        fault.hosts = "http://127.0.0.1:1"
        try await DoctorHouse.with(fault) { house in
            let found = try await house.findings("--limits-connections", "100")
            #expect(found.wrong == ["host fail"])
            #expect(found.of("host").map(\.found) == ["nobody listens there", "nobody listens there"])
            #expect(found.of("token").isEmpty)
            let quiet = try await house.findings("--limits-connections", "100", "--offline", code: 0)
            #expect(quiet.of("host").isEmpty && quiet.of("server").isEmpty)
        }
    }

    /// Each row: what is wrong with a key that a server starts with, and what is said.
    @Test(arguments: [
        (issuer: "57246542", keyID: "ABCDEFGHIJ", status: "fail", said: "issuer_id is no UUID"),
        ("57246542-96fe-1a63-e053-0824d011072a", "ABCDEFGHI", "warn", "key_id is not ten"),
    ])
    func aKeyOfAnotherFormIsTold(issuer: String, keyID: String, status: String, said: String) async throws {
        var fault = Fault()
        (fault.issuer, fault.keyID) = (issuer, keyID)
        try await DoctorHouse.with(fault) { house in
            let found = try await house.findings("--offline")
            let key = try #require(found.of("key").first)
            #expect(key.status == status && key.found.contains(said), "\(key)")
        }
    }

    @Test func aFileThatIsNoKeyIsTold() async throws {
        try await DoctorHouse.with { house in
            let damaged = Array("-----BEGIN PRIVATE KEY-----".utf8)
            try ServerFolder.write(damaged, house.folder + "/merchant.p8", isSecret: true)
            let key = try #require(try await house.findings("--offline").of("key").first)
            #expect(key.status == "fail" && key.found.hasPrefix("the private key cannot be used"), "\(key)")
        }
    }

    // MARK: Notifications

    @Test func whatBecomesOfATestNotificationIsTold() async throws {
        try await DoctorHouse.with { house in
            let flags = ["--limits-connections", "100", "--wait", "25"]
            func found() async throws -> Findings.Line {
                let findings = try await house.findings(flags[0], flags[1], flags[2], flags[3])
                #expect(findings.wrong == ["notification fail"])
                return try #require(findings.of("notification").first)
            }
            try await house.tell("none")
            let nowhere = try await found()
            #expect(nowhere.found == "Apple has no address to send them to")
            #expect(nowhere.fix.contains("/v1/apple/notifications/demo"))
            try await house.tell("http://127.0.0.1:1/")
            #expect(try await found().found == "Apple could not deliver it: SOCKET_ISSUE")
            try await house.tell(house.notices + "-not")
            let path = try await found()
            #expect(path.found == "Apple could not deliver it: UNSUCCESSFUL_HTTP_RESPONSE_CODE")
            #expect(path.cause.contains("the path is wrong"))
            try await house.tell(house.notices)
            let asked = try await house.findings("--limits-connections", "100", "--wait", "0", code: 0)
            #expect(asked.of("notification").isEmpty)
        }
    }

    @Test func whatArrivesInAnotherLedgerIsTold() async throws {
        try await DoctorHouse.with { house in
            try await DoctorHouse.with { other in
                // Apple knows this one's address; the configuration looks into the other's ledger.
                _ = other
                let found = try await house.findings(
                    "--limits-connections",
                    "100",
                    "--wait",
                    "25",
                    "--data",
                    other.data
                )
                #expect(found.wrong == ["notification fail"])
                let lost = try #require(found.of("notification").first)
                #expect(lost.found == "Apple delivered it, and it is not in this ledger")
                #expect(lost.fix.contains("data or database.url"))
            }
        }
    }

    // MARK: Receivers

    @Test func receiversThatCannotBeReachedAreTold() async throws {
        try await DoctorHouse.with { house in
            #expect(try await house.addEndpoint("http://127.0.0.1:1/hook") == 201)
            let found = try await house.findings("--limits-connections", "100", "--wait", "0")
            #expect(found.wrong == ["webhook fail"])
            #expect(found.of("webhook").first?.found == "nobody listens there")
            // What was allowed when it was made is not any more.
            let refused = try await house.findings(
                "--limits-connections",
                "100",
                "--wait",
                "0",
                "--webhooks-plain-hosts",
                "elsewhere"
            )
            #expect(refused.of("webhook").first?.found == "its URL may not be called: scheme")
            let inside = try await house.findings(
                "--limits-connections",
                "100",
                "--wait",
                "0",
                "--webhooks-allowed-addresses",
                "10.0.0.0/8"
            )
            #expect(inside.of("webhook").first?.found == "the name leads to an address that may not be called")
        }
    }

    // MARK: How it is called

    @Test func itSaysWhatIsWrongInText() async throws {
        try await TemporaryFolder.with { folder in
            let run = try await Program.run(["doctor", "--config", folder + "/nothing.json"])
            #expect(run.code == 1)
            #expect(
                run.text.hasPrefix("FAIL  configuration  \(folder)/nothing.json: there is no such file\n      fix    ")
            )
            #expect(run.text.hasSuffix("0 good, 0 to look at, 1 wrong\n"))
            #expect(!run.output.contains(0x1B), "no colours where no terminal is")
            #expect(try await Program.run(["doctor", "--wait", "x"]).code == 2)
            #expect(try await Program.run(["doctor", "--nonsense"]).code == 2)
        }
    }
}
