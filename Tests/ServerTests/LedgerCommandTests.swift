import Encoding
import Foundation
import Storage
import Testing

/// `assay ledger …` as an operator runs it, beside a server and without one.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct LedgerCommandTests {
    private static func json(_ words: String..., in folder: ServerFolder) async throws -> JSONObject {
        let run = try await Program.run(["ledger"] + words + ["--json", "--data", folder.data])
        #expect(run.code == 0, "\(run.errorText)")
        #expect(run.errors == [])
        return try #require(try JSONDocument(run.output.dropLast()).root.object)
    }

    @Test func refusalsAreCountedByReasonAndShownBesideARunningServer() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            for _ in 1...3 { #expect(await server.post(Purchase.body("no proof"))?.status == 422) }
            #expect(await server.post(Purchase.body("no proof either", customer: "customer-2"))?.status == 422)
            // Nothing of it is written yet: a refusal has no commit of its own.
            #expect(try await Self.json("refusals", in: folder)["refused"]?.int64 == 0)
            #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.result == "recorded")

            let found = try await Self.json("refusals", "--samples", "1", in: folder)
            #expect(found["refused"]?.int64 == 4)
            let reason = try #require(found["reasons"]?.array?.first { _ in true }?.object)
            #expect(reason["app"]?.string == "demo")
            #expect(reason["reason"]?.string == "unrecognised")
            #expect(reason["verdict"]?.string == "malformed")
            #expect(reason["count"]?.int64 == 4)
            #expect(reason["last_hour"]?.string?.hasSuffix(":00:00.000Z") == true)
            #expect(found["samples"]?.array?.count == 1)
            let sample = try #require(found["samples"]?.array?.first { _ in true }?.object)
            #expect(sample["customer_id"]?.string == "customer-2")
            #expect(sample["is_whole"]?.bool == true)
            #expect(sample["proof"]?.string == Data("no proof either".utf8).base64EncodedString())

            let later = try await Self.json("refusals", "--since", "2100-01-01T00:00:00Z", in: folder)
            #expect(later["refused"]?.int64 == 0)
            let text = try await Program.run(["ledger", "refusals", "--data", folder.data, "--samples", "0"])
            #expect(text.text.hasPrefix("refused: 4\n  count  app   reason        verdict    last in the hour of\n"))
            #expect(text.text.contains("\n  4      demo  unrecognised  malformed  20"))
            #expect(!text.text.contains("customer-2"))
            // The server has noticed nothing.
            #expect(await server.post(Purchase.body(try Purchase.jws(2)))?.result == "recorded")
            server.stop()
            #expect(await server.exitCode() == 0)
            #expect(try await Self.json("refusals", in: folder)["refused"]?.int64 == 4)
        }
    }

    @Test func theCertificatesOfProofsAreListed() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.result == "recorded")
            server.stop()
            #expect(await server.exitCode() == 0)
            let listed = try #require(try await Self.json("certificates", in: folder)["certificates"]?.array)
            let roles = listed.compactMap { $0.object?["role"]?.string }.sorted()
            #expect(roles == ["intermediate", "leaf", "root"])
            #expect(
                listed.compactMap { $0.object?["vouched_by"]?.string } == ["added_root", "added_root", "added_root"]
            )
            let text = try await Program.run(["ledger", "certificates", "--data", folder.data])
            #expect(text.text.hasPrefix("  first seen  ") && text.text.contains("Simulated"))
            // The next server knows them, and shows when they end.
            let next = try await folder.serve()
            let answer = try #require(await next.get("/v1/certificates"))
            let shown = try #require(try JSONDocument(answer.body).root.object?["certificates"]?.array)
            #expect(shown.count == 3)
            let metrics = await next.get("/metrics", key: nil)?.text ?? ""
            #expect(metrics.contains("assay_certificate_not_after_seconds{role=\"root\",vouched_by=\"apple\""))
        }
    }

    @Test func evidenceIsWhatWasPresented() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let proof = try Purchase.jws(1)
            let answer = try #require(await server.post(Purchase.body(proof)))
            let id = try #require(answer.first("transaction_id"))
            let found = try await Self.json("evidence", "--app", "demo", id, in: folder)
            let transaction = try #require(found["transactions"]?.array?.first { _ in true }?.object)
            #expect(transaction["transaction_id"]?.string == id)
            #expect(transaction["test_signed"]?.bool == true)
            #expect(transaction["evidence"]?.array?.count == 1)
            let evidence = try #require(transaction["evidence"]?.array?.first { _ in true }?.object)
            #expect(evidence["format"]?.string == "jws_transaction")
            #expect(evidence["verdict"]?.string == "test_signed")
            let base64 = try #require(evidence["proof"]?.string)
            #expect(base64 == Data(proof.utf8).base64EncodedString())
            // What is shown can be examined again.
            let again = try await Program.run(["verify", "--roots", folder.roots, "-"], input: Array(base64.utf8))
            #expect(again.text.hasPrefix("-: test_signed"))

            let text = try await Program.run(["ledger", "evidence", "--app", "demo", id, "--data", folder.data])
            #expect(text.text.hasPrefix("\(id) coins, sandbox, test-signed\n  received "))
            let other = try await Program.run(["ledger", "evidence", "--app", "demo", "1", "--data", folder.data])
            #expect(other.code == 1)
            #expect(other.text == "no such transaction\n")
            let nobody = try await Program.run(["ledger", "evidence", "--app", "dem", id, "--data", folder.data])
            #expect(nobody.code == 2 && nobody.output == [])
            #expect(nobody.errorText.contains("the ledger has no app dem; did you mean \"demo\"? (there is demo)"))
        }
    }

    @Test(arguments: [
        (["refusals"], 2, "there is no ledger yet"),
        (["refusals", "--samples", "101"], 2, "--samples is a number from 0 to 100"),
        (["refusals", "--samples", "+5"], 2, "--samples is a number from 0 to 100"),
        (["refusals", "--since", "yesterday"], 2, "--since is a moment such as"),
        (["evidence", "1"], 2, "--app is needed"),
        (["evidence", "--app", "demo"], 2, "TRANSACTION is missing"),
        (["evidence", "--app", "demo", "x"], 2, "TRANSACTION is a number of Apple's"),
        (["check"], 2, "\"ledger\" needs one more word"),
        ([], 2, "\"ledger\" needs one more word"),
    ])
    func whatCannotBeShownIsSaid(words: [String], code: Int32, message: String) async throws {
        try await TemporaryFolder.with { folder in
            let data = words.isEmpty ? [] : ["--data", folder]
            let run = try await Program.run(["ledger"] + words + data)
            #expect(run.code == code)
            #expect(run.errorText.contains(message), "\(run.errorText)")
            #expect(run.output == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }
}
