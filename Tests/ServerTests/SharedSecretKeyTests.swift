import Crypto
import Encoding
import Testing

@testable import Server

/// A key that has an app's shared secret, which whoever unpacks the app may find.
@Suite struct SharedSecretKeyTests {
    private static let apps =
        #"[{"id": "shop", "bundle_id": "a"}, {"id": "game", "bundle_id": "b", "app_store": {"shared_secret": "SECRET"}}]"#
    private static let fault =
        #"key "old" has the shared secret of app "game", which whoever unpacks the app may find; "#
        + #"give it a secret of its own, or else "scopes": ["verify_receipt"] and no other"#

    @Test(arguments: [
        (key: #""secret": "SECRET""#, isRefused: true),
        (#""secret": "SECRET", "scopes": ["verify_receipt"]"#, false),
        (#""secret": "SECRET", "scopes": ["verify_receipt", "read"]"#, true),
        (#""secret": "SECRET", "scopes": ["submit"]"#, true),
        (#""secret": "SECRET", "kind": "publishable""#, true), (#""secret_file": "key""#, true),
        (#""secret_file": "key", "scopes": ["verify_receipt"]"#, false), (#""secret_sha256": "HASH""#, true),
        (#""secret_sha256": "HASH", "scopes": ["verify_receipt"]"#, false),
        (#""secret": "a-SECRET-of-its-own""#, false),
        (#""secret": "CAPITALS""#, true), (#""secret": "0123456789abcdef0123456789ABCDEF""#, true),
        (#""secret": "CAPITALS", "scopes": ["verify_receipt"]"#, false), (#""secret_sha256": "DIGEST""#, true),
        (#""secret_sha256": "DIGEST", "scopes": ["verify_receipt"]"#, false),
        (#""secret": "CAPITALSA""#, false),
    ])
    func itMayAskAsAppleWasAskedAndNoMore(key: String, isRefused: Bool) {
        let secret = ConfigurationTests.secret
        let capitals = secret.uppercased()
        let key = key.replacing("SECRET", with: secret).replacing("CAPITALS", with: capitals)
            .replacing("HASH", with: Hexadecimal.encode(Digest.sha256(Array(secret.utf8))))
            .replacing("DIGEST", with: Hexadecimal.encode(Digest.sha256(Array(capitals.utf8))))
        // The row begins with it.
        let member = key.split(separator: "\"").first ?? ""
        // Any app's: also that of another one than the key is for. In whatever letters either is written.
        for (app, shared) in [("game", secret), ("shop", secret), ("game", capitals)] {
            let keys = #"[{"name": "old", "app": "\#(app)", \#(key)}]"#
            let apps = Self.apps.replacing("SECRET", with: shared)
            let text = #"{"apps": \#(apps), "keys": \#(keys)}"#
            let told = "assay.json: keys[0].\(member): \(Self.fault)"
            #expect(Self.faults(text, ["key": secret + "\n"]) == (isRefused ? [told] : []))
        }
    }

    /// Where apps and keys come from different places it is seen as well, and told of where the key stands.
    @Test func itIsSeenWhereverTheKeyStands() {
        let secret = ConfigurationTests.secret
        let text = #"{"apps": \#(Self.apps)}"#.replacing("SECRET", with: secret)
        let keys = #"[{"name": "old", "app": "game", "secret": "\#(secret)"}]"#
        #expect(Self.faults(text, environment: ["ASSAY_KEYS": keys]) == ["ASSAY_KEYS: keys[0].secret: \(Self.fault)"])
    }

    /// What is said of this file, line by line.
    private static func faults(
        _ text: String,
        _ more: [String: String] = [:],
        environment: [String: String] = [:]
    ) -> [String] {
        do throws(ConfigurationFaults) {
            _ = try ConfigurationTests.read(text, environment, more: more)
            return []
        } catch {
            return error.description.split(separator: "\n").map(String.init)
        }
    }
}
