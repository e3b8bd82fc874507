import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// `assay verify`, as scripts and people use it.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct VerifyCommandTests {
    @Test func theJSONIsAContract() async throws {
        let run = try await Self.verify(try Purchase.jws(1), "--json")
        #expect(run.code == 1)
        #expect(Self.masked(run.text) == Self.goldenJSON)
    }

    @Test func theTextIsForPeople() async throws {
        let run = try await Self.verify(try Purchase.jws(1))
        #expect(run.code == 1)
        #expect(Self.masked(run.text) == Self.goldenText)
    }

    @Test func whatIsNotProvedIsCalledAClaim() async throws {
        let run = try await Program.run(["verify", "-"], input: Array(try Purchase.jws(1).utf8))
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "-: forged (untrusted_root)")
        let claim = try #require(lines.firstIndex(of: "  it claims, and nobody proves:"))
        let facts = lines.indices.filter { place in
            ["  app ", "  environment", "  signed", "  transaction"].contains { lines[place].hasPrefix($0) }
        }
        #expect(facts.count == 4 && facts.allSatisfy { $0 > claim })
    }

    @Test func everyKindOfProofHasItsMember() async throws {
        let signer = TestAuthority.signer()
        let transaction = try Purchase.transaction(1)
        let renewal = Renewal(
            originalID: transaction.id,
            product: transaction.product,
            signedAt: TestAuthority.moment
        )
        var notice = Notice(
            uuid: "8A0C7C0E-0000-4000-8000-000000000001",
            type: "DID_RENEW",
            signedAt: TestAuthority.moment
        )
        notice.bundleID = TestAuthority.bundleID
        notice.environment = .sandbox
        notice.transaction = transaction
        notice.renewal = renewal
        let download = AppDownload(bundleID: TestAuthority.bundleID, signedAt: TestAuthority.moment)
        let proofs: [(format: String, proof: [UInt8], member: String)] = [
            ("jws_renewal_info", Array(try signer.renewal(renewal).utf8), "renewal_info"),
            ("jws_app_transaction", Array(try signer.appTransaction(download).utf8), "app_transaction"),
            ("jws_notification", Array(try signer.notification(notice).utf8), "notification"),
            ("app_receipt", try signer.receipt([transaction], createdAt: TestAuthority.moment), "transactions"),
        ]
        for (format, proof, member) in proofs {
            let json = try await Self.json(proof)
            #expect(json["format"]?.string == format)
            #expect(json["verdict"]?.string == "test_signed", "\(format)")
            #expect(json[member] != nil, "\(format)")
        }
        let notification = try await Self.json(proofs[2].proof)["notification"]?.object
        #expect(notification?["transaction"]?.object?["transaction_id"]?.string == transaction.id.description)
        #expect(notification?["renewal_info"]?.object?["original_transaction_id"]?.string != nil)
    }

    @Test func severalFilesAreOneLineEachAndTheWorstDecides() async throws {
        try await TemporaryFolder.with { folder in
            try ServerFolder.write(Array(try Purchase.jws(1).utf8), folder + "/good")
            try ServerFolder.write(Array("nothing".utf8), folder + "/bad")
            let both = try await Program.run(["verify", "--json", "good", "bad", "-"], input: [], in: folder)
            #expect(both.code == 1)
            let lines = both.text.split(separator: "\n").map { Array($0.utf8) }
            #expect(try lines.map { try JSONDocument($0).root.object?["file"]?.string } == ["good", "bad", "-"])
            // What cannot be read is said, and the others are examined all the same.
            for missing in ["none", "."] {
                let run = try await Program.run(["verify", "--json", missing, "bad"], in: folder)
                #expect(run.code == 2)
                #expect(run.errorLines.count == 1 && run.errorText.contains("assay verify: \(missing): cannot be read"))
                #expect(run.text.split(separator: "\n").count == 1)
            }
        }
    }

    @Test func whatCannotBeWrittenIsNoSuccess() async throws {
        let run = try await Program.run(["verify", "-"], output: "/dev/full")
        #expect(run.code == 2)
        #expect(run.errorText.contains("standard output cannot be written"))
    }

    @Test(arguments: [
        [], ["--at", "yesterday", "-"], ["--at", "2025-01-01T00:00:00+01:00", "-"],
        ["--at", "2025-02-30T00:00:00Z", "-"], ["--device-id", "123", "-"],
        ["--environment", "xcode", "-"], ["--bundle-id", "a b", "-"], ["--jsno", "-"], ["--roots"],
        ["--roots", "/none", "-"], ["--json=yes", "-"],
    ])
    func aMistakeOnTheCommandLineIsUsage(arguments: [String]) async throws {
        let run = try await Program.run(["verify"] + arguments)
        #expect(run.code == 2)
        #expect(run.output == [])
        #expect((1...3).contains(run.errorLines.count), "\(run.errorText)")
    }

    @Test(arguments: [
        (["--bundle-id", "com.example.simulated"], "added_root"),
        (["--bundle-id", "com.example.Simulated"], "foreign_bundle_id"),
        (["--environment", "sandbox"], "added_root"), (["--environment", "production"], "environment_not_accepted"),
        (["--at", "2030-01-01T00:00:00Z"], "added_root"),
        (["--at", "2019-12-31T23:59:59Z"], "certificate_not_valid_at_signing"),
        (["--at", "2041-01-01T00:00:00.000Z"], "certificate_not_valid_at_signing"),
    ])
    func eachFlagDoesWhatItSays(flags: [String], reason: String) async throws {
        let json = try await Self.json(Array(try Purchase.jws(1).utf8), flags)
        #expect(json["reason"]?.string == reason)
        if reason == "foreign_bundle_id" {
            let difference = json["difference"]?.object
            #expect(difference?["expected"]?.string == "com.example.Simulated")
            #expect(difference?["found"]?.string == "com.example.simulated")
        }
    }

    @Test func aReceiptIsForOneDevice() async throws {
        let purchase = try Purchase.transaction(1)
        let receipt = try TestAuthority.signer().receipt([purchase], createdAt: TestAuthority.moment)
        let own = "D5D5D5D5-D5D5-D5D5-D5D5-D5D5D5D5D5D5"
        for (device, reason) in [(own, "added_root"), ("00:11:22:33:44:55", "foreign_device")] {
            let json = try await Self.json(receipt, ["--device-id", device])
            #expect(json["reason"]?.string == reason)
        }
    }

    @Test func anOldReceiptNeedsTheCertificateThatItDoesNotCarry() async throws {
        try await TemporaryFolder.with { folder in
            let receipt = try TestAuthority.signer().oldReceipt(try Purchase.transaction(1))
            #expect(try await Self.json(receipt)["verdict"]?.string == "forged")
            let certificate = try TestAuthority.shared.identity(.oldIntermediate).certificate.der
            // As a tool prints it: with words before it, and the lines of another system.
            let text = String(decoding: Base64.encode(certificate, .standard, isPadded: true), as: UTF8.self)
            let lines = stride(from: 0, to: text.utf8.count, by: 64).map { text.dropFirst($0).prefix(64) }
            let pem = ["Certificate:", "-----BEGIN CERTIFICATE-----"] + lines.map(String.init)
            try ServerFolder.write(
                Array((pem + ["-----END CERTIFICATE-----", ""]).joined(separator: "\r\n").utf8),
                folder + "/old.pem"
            )
            let json = try await Self.json(receipt, ["--certificates", folder])
            #expect(json["verdict"]?.string == "test_signed")
            #expect(json["format"]?.string == "transaction_receipt")
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "\(Corpus.absenceNote)"))
    func genuineOnesEndWithZero() async throws {
        let genuine = Corpus.cases.filter { $0.expect.isGenuineReceiptAtCreation == true }.prefix(5)
        try #require(!genuine.isEmpty)
        let files = genuine.map { "\(Corpus.folder)/\($0.path)" }
        let run = try await Program.run(["verify"] + files)
        #expect(run.code == 0, "\(run.text)")
        let mixed = try await Program.run(["verify"] + files + ["-"])
        #expect(mixed.code == 1)
    }

    static func verify(_ proof: String, _ flags: String...) async throws -> Program.Run {
        try await withRoots { roots in
            try await Program.run(["verify", "--roots", roots] + flags + ["-"], input: Array(proof.utf8))
        }
    }

    static func json(_ proof: [UInt8], _ flags: [String] = []) async throws -> JSONObject {
        let run = try await withRoots { roots in
            try await Program.run(["verify", "--json", "--roots", roots] + flags + ["-"], input: proof)
        }
        return try #require(try? JSONDocument(run.output).root.object, "\(run.errorText)")
    }

    private static func withRoots<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        try await TemporaryFolder.with { folder in
            try ServerFolder.makeRoots(in: folder + "/roots")
            return try await body(folder + "/roots")
        }
    }

    /// Without what another key changes: serial numbers and hashes.
    private static func masked(_ text: String) -> String {
        text.replacing(/[0-9a-f]{64}/, with: "HASH").replacing(/[0-9a-f]{32}/, with: "SERIAL")
    }
}
