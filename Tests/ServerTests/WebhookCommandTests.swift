import Foundation
import Testing

/// `assay webhook …` as an operator runs it.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct WebhookCommandTests {
    private static let body = Array(#"{"test": 2432232314}"#.utf8)
    /// The public vectors' secret and key, in the form of the specification.
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let key = "whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk="
    private static let publicKey = "whpk_ZlN4eg7dSSqi0moX9hQUk3orrOouK3QVQSlJa248c/g="
    private static let fields = """
        webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek
        webhook-timestamp: 1614265330
        webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= \
        v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==

        """
    private static let moment = "2021-02-25T15:02:10Z"

    private static func run(
        _ command: String,
        secrets: String,
        fields: String = fields,
        body: [UInt8] = body,
        _ flags: String...
    ) async throws -> Program.Run {
        try await TemporaryFolder.with { folder in
            try Data(secrets.utf8).write(to: URL(filePath: folder + "/secrets"))
            try Data(fields.utf8).write(to: URL(filePath: folder + "/fields"))
            var words = ["webhook", command, "--secret-file", folder + "/secrets"] + flags
            if command == "verify" { words += ["--fields", folder + "/fields"] }
            return try await Program.run(words, input: body)
        }
    }

    @Test func theFieldsAreThoseOfTheVectors() async throws {
        let run = try await Self.run(
            "sign",
            secrets: Self.secret + "\n\n  " + Self.key + "  \r\n",
            "--id",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "--at",
            Self.moment
        )
        #expect(run.code == 0 && run.text == Self.fields && run.errors == [])
    }

    @Test(arguments: [secret, key, publicKey, secret + "\n" + publicKey])
    func anyOneOfTheSecretsWillDo(secrets: String) async throws {
        let run = try await Self.run("verify", secrets: secrets, "--at", Self.moment)
        #expect(run.code == 0 && run.text == "genuine: msg_p5jXN8AQM9LWM0D4loKWxJek\n")
    }

    @Test func whatIsNotSoIsRefused() async throws {
        let other = "whsec_" + String(repeating: "A", count: 32)
        let altered = try await Self.run("verify", secrets: Self.secret, body: Self.body + [0x0A], "--at", Self.moment)
        #expect(altered.code == 1 && altered.text == "refused: no_matching_signature\n")
        #expect(try await Self.run("verify", secrets: other, "--at", Self.moment).code == 1)
        let old = try await Self.run("verify", secrets: Self.secret)
        #expect(old.code == 1 && old.text == "refused: too_old\n")
        let without = try await Self.run("verify", secrets: Self.secret, fields: "POST / HTTP/1.1\n")
        #expect(without.code == 1 && without.text == "refused: header_missing\n")
    }

    @Test func aMistakeIsToldAndNoSecretShown() async throws {
        let slip = Self.secret + "!"
        let run = try await Self.run("sign", secrets: slip, "--id", "a")
        #expect(run.code == 2 && run.output == [] && !run.errorText.contains("MfKQ"))
        #expect(run.errorText.contains("no whsec_"))
        #expect(try await Self.run("sign", secrets: Self.secret, "--id", "a.b").code == 2)
        #expect(try await Self.run("sign", secrets: Self.secret).code == 2)
        #expect(try await Self.run("sign", secrets: Self.publicKey, "--id", "a").code == 2)
        #expect(try await Self.run("sign", secrets: "", "--id", "a").code == 2)
        #expect(try await Program.run(["webhook", "sign", "--id", "a", "--secret-file", "/nowhere"]).code == 2)
    }
}
