import Encoding
import Foundation
import TestSupport
import Testing

/// What an import has Apple asked about, by what the configuration has of her.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ImportReachTests {
    /// A shared secret is for receipts: a number would wait until it is given up.
    @Test func withASharedSecretAloneNumbersAreRefused() async throws {
        try await ServerFolder.with { folder in
            let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
            let store = #""app_store":{"shared_secret":"0123456789abcdef0123456789abcdef"}"#
            let changed = text.replacing("\"id\":\"demo\"", with: "\"id\":\"demo\",\(store)")
            #expect(changed != text)
            try ServerFolder.write(Array(changed.utf8), folder.configuration, isSecret: true)
            let file = folder.path + "/old.csv"
            let rows = "store_transaction_id,rc_original_app_user_id,store\n2000000000000001,ann,app_store\n"
            try ServerFolder.write(Array(rows.utf8), file)
            let words = ["import", "--config", folder.configuration, "--app", "demo", "--from", "revenuecat", "--json"]
            let plan = try await Program.run(words + ["--plan", file])
            #expect(plan.code == 1, "\(plan.errorText)")
            let planned = try #require(try JSONDocument(plan.output.dropLast()).root.object)
            #expect(planned["need_apple"]?.int64 == 0)
            let run = try await Program.run(words + [file])
            #expect(run.code == 1, "\(run.errorText)")
            let found = try #require(try JSONDocument(run.output.dropLast()).root.object)
            #expect((found["asked"]?.int64, found["refused"]?.int64) == (0, 1))
        }
    }
}
