import Crypto
import Encoding
import Testing

@testable import Server

/// A key that may be the shared secret of an app of which none is configured.
@Suite struct APIKeyFormTests {
    private static let form = ConfigurationTests.secret

    @Test(arguments: [
        (key: #""secret": "FORM""#, isTold: true), (#""secret_file": "key""#, true),
        (#""secret": "FORM", "scopes": ["verify_receipt", "read"]"#, true),
        (#""secret": "FORM", "scopes": ["submit"]"#, true),
        (#""secret": "FORM", "scopes": ["verify_receipt"]"#, false),
        (#""secret": "FORM", "kind": "publishable""#, false), (#""secret": "FORM0""#, false),
        (#""secret": "CAPITALS""#, false), (#""secret": "0123456789abcdef0123456789abcdeg""#, false),
        // Of a hash nobody can tell.
        (#""secret_sha256": "HASH""#, false),
    ])
    func ofOneThatLooksLikeASharedSecretIsWarned(key: String, isTold: Bool) throws {
        let key = key.replacing("FORM", with: Self.form).replacing("CAPITALS", with: Self.form.uppercased())
            .replacing("HASH", with: Hexadecimal.encode(Digest.sha256(Array(Self.form.utf8))))
        let text = #"{"apps": \#(ConfigurationTests.apps), "keys": [{"name": "old", "app": "shop", \#(key)}]}"#
        let findings = CheckAPIKeys.findings(try ConfigurationTests.read(text, more: ["key": Self.form + "\n"]))
        #expect(findings.map(\.check) == (isTold ? ["api_key"] : []))
        #expect(findings.allSatisfy { $0.status == .warn && $0.subject == "old" })
    }

    /// It was compared with that, and is another.
    @Test(arguments: [(app: "shop", isTold: false), ("game", true)])
    func whereTheAppHasASharedSecretNothingIsSaid(app: String, isTold: Bool) throws {
        let other = String(Self.form.reversed())
        let shop = #"{"id": "shop", "bundle_id": "a", "app_store": {"shared_secret": "\#(other)"}}"#
        let apps = #"[\#(shop), {"id": "game", "bundle_id": "b"}]"#
        let keys = #"[{"name": "old", "app": "\#(app)", "secret": "\#(Self.form)"}]"#
        let configuration = try ConfigurationTests.read(#"{"apps": \#(apps), "keys": \#(keys)}"#)
        #expect(CheckAPIKeys.findings(configuration).isEmpty == !isTold)
    }
}
