import AppStore
import Encoding
import Foundation
import PurchaseModel
import TestSupport
import Testing

/// Apple's own library for Python, in an environment of its own.
private enum AppleLibrary {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let python = root.appendingPathComponent(".build/interop/venv/bin/python").path
    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: python) }
}

/// Merchant signatures beside those of Apple's own library, both ways. It is there once `scripts/interop.sh environment`
/// has been run.
@Suite(.enabled(if: AppleLibrary.isPresent, "no library: run scripts/interop.sh environment"))
struct AppleLibraryTests {
    private static let (issuer, keyID) = ("57246542-96fe-1a63-e053-0824d011072a", "ABCDEFGHIJ")
    private static let (product, offer) = ("com.example.demo.pro.monthly", "THREE-MONTHS-HALF")
    private static let account = "1D0C9F7E-2A3B-4C5D-8E6F-A0B1C2D3E4F5"

    private static func signer() throws -> (MerchantSigner, pem: [UInt8]) {
        let pem = try ServerDesk.signingKeyText()
        var app = AppleDesk().credentials
        app.key = try ServerAPIKey(issuerID: issuer, keyID: keyID, pem: pem)
        return (try MerchantSigner(app), pem)
    }

    private static func run(_ arguments: [String], _ files: OpenSSLTool) throws -> (code: Int32, said: [UInt8]) {
        let script = AppleLibrary.root.appendingPathComponent("Tests/Interop/merchant.py").path
        var process = ChildProcess([AppleLibrary.python, script] + arguments)
        let output = files.path("said")
        process.output = .file(output)
        process.errors = .file(files.path("errors"))
        let code = try process.start().waitUntilExit()
        return (code, try files.read("said") + files.read("errors"))
    }

    @Test func whatApplesLibrarySignsIsFoundRight() throws {
        let files = try OpenSSLTool()
        defer { files.remove() }
        let (signer, pem) = try Self.signer()
        // The library dates its tokens by itself.
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        let key = try files.write(pem, as: "key.pem")
        let (code, said) = try Self.run(
            ["make", key, Self.keyID, Self.issuer, AppleDesk.bundleID.text, String(now.milliseconds)],
            files
        )
        #expect(code == 0, "\(String(decoding: said, as: UTF8.self))")
        let made = try #require(try JSONDocument(said).root.object)
        func text(_ name: String) throws -> String { try #require(made[name]?.string) }
        for (name, account) in [("signature", Self.account), ("without_account", "")] {
            let given = GivenOfferSignature(
                keyID: Self.keyID,
                product: Self.product,
                offer: Self.offer,
                account: account,
                nonce: try text("nonce"),
                timestamp: now.milliseconds,
                signature: try text(name)
            )
            #expect(signer.explain(given, at: now) == [])
        }
        for name in ["offer", "offer_without_transaction", "introductory"] {
            #expect(signer.explain(request: try text(name), at: now) == [])
        }
    }

    @Test func whatWeSignPassesWhereApplesLibraryChecks() throws {
        let files = try OpenSSLTool()
        defer { files.remove() }
        let (signer, pem) = try Self.signer()
        let now = AppleDesk.start
        let product = ProductID(checked: Self.product)
        let nonce = MerchantNonce.generated()
        let id = try #require(TransactionID("700000000000001"))
        let old = try signer.promotionalOffer(Self.offer, of: product, account: Self.account, nonce: nonce, at: now)
        let tokens = [
            (
                try signer.promotionalOffer(Self.offer, of: product, transaction: id, nonce: nonce, at: now),
                "promotional-offer"
            ),
            (
                try signer.introductoryOffer(of: product, isAllowed: true, transaction: id, nonce: nonce, at: now),
                "introductory-offer-eligibility"
            ),
            (try signer.advancedCommerce(request: Array("{}".utf8), nonce: nonce, at: now), "advanced-commerce-api"),
        ]
        let ours = JSONWriter.object { ours in
            ours.array("tokens") { list in
                for (token, audience) in tokens {
                    list.array { pair in
                        pair.element(token)
                        pair.element(audience)
                    }
                }
            }
            ours.member("bundle", AppleDesk.bundleID.text)
            ours.member("issuer", Self.issuer)
            ours.member("key_id", Self.keyID)
            ours.member("nonce", old.nonce.description)
            ours.member("timestamp", old.timestamp)
            ours.member("signature", old.signature)
        }
        let key = try files.write(pem, as: "key.pem")
        let (code, said) = try Self.run(["check", key, files.write(ours, as: "ours.json")], files)
        #expect(code == 0, "\(String(decoding: said, as: UTF8.self))")
    }
}
