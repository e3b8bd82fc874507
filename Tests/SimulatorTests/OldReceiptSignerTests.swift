import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct OldReceiptSignerTests {
    @Test(arguments: OldReceiptSigner.Version.allCases)
    func anotherProgramVerifiesTheSignature(version: OldReceiptSigner.Version) throws {
        let receipt = try TestAuthority.signer(.sandbox).oldReceipt(SampleFacts.subscription, version: version)
        let parts = try Self.parts(of: receipt)
        #expect(parts.version == version.rawValue)
        #expect(parts.signature.count == (version == .two ? 128 : 256))
        #expect(parts.rest.isEmpty)
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let certificate = try tool.write(parts.certificate, as: "leaf.der")
        let key = try tool.run(["x509", "-inform", "DER", "-in", certificate, "-noout", "-pubkey"])
        let answer = try tool.run([
            "dgst", version == .four ? "-sha256" : "-sha1", "-verify",
            try tool.write(Array(key.text.utf8), as: "key.pem"),
            "-signature", try tool.write(parts.signature, as: "signature"),
            try tool.write([version.rawValue] + parts.info, as: "message"),
        ])
        #expect(answer.isSuccess, "\(answer.text)")
        let leaf = try Certificate(der: parts.certificate)
        let issuer = try TestAuthority.shared.identity(version.family.intermediate).certificate
        #expect(leaf.isSigned(by: issuer))
    }

    @Test func thePurchaseIsReadBack() throws {
        let receipt = try TestAuthority.signer(.sandbox).oldReceipt(SampleFacts.subscription)
        let outer = try OldPlist(receipt.span)
        #expect(outer.pairs.map(\.key) == ["signature", "purchase-info", "environment", "pod", "signing-status"])
        let info = try OldPlist(try Self.parts(of: receipt).info.span)
        #expect(info["transaction-id"] == "2000000950112345")
        #expect(info["original-transaction-id"] == "2000000950100001")
        #expect(info["bid"] == "com.example.simulated")
        #expect(info["purchase-date"] == "2025-06-15 09:33:20 Etc/GMT")
        #expect(info["purchase-date-ms"] == "1749980000000")
        #expect(info["expires-date"] == "1752572000000")
        let production = try TestAuthority.signer(.production).oldReceipt(SampleFacts.refunded)
        #expect(try OldPlist(production.span)["environment"] == nil)
    }

    @Test(arguments: OldReceiptSigner.Flaw.allCases, OldReceiptSigner.Version.allCases)
    func aFlawedReceiptDoesNotVerify(flaw: OldReceiptSigner.Flaw, version: OldReceiptSigner.Version) throws {
        let signer = try OldReceiptSigner(TestAuthority.shared.chain(version.family), version: version)
        let right = try signer.sign(SampleFacts.subscription, of: SampleFacts.app)
        let wrong = try signer.sign(SampleFacts.subscription, of: SampleFacts.app, flaw: flaw)
        #expect(try Self.isRight(right, version))
        #expect((try? Self.isRight(wrong, version)) != true)
    }

    private struct Parts {
        var version: UInt8
        var signature: [UInt8]
        var certificate: [UInt8]
        var rest: [UInt8]
        var info: [UInt8]
    }

    private struct Malformed: Error {}

    /// A plain reading of the format, by nobody's code but the test's.
    private static func parts(of receipt: [UInt8]) throws -> Parts {
        let plist = try OldPlist(receipt.span)
        guard let signature = plist["signature"], let info = plist["purchase-info"] else { throw Malformed() }
        let blob = try Base64.decode(Array(signature.utf8), .standard, padding: .required)
        guard let version = blob.first, (2...4).contains(version) else { throw Malformed() }
        let length = version == 2 ? 128 : 256
        guard blob.count > length + 5 else { throw Malformed() }
        let size = blob[(1 + length)..<(5 + length)].reduce(0) { $0 << 8 | Int($1) }
        guard blob.count >= 5 + length + size else { throw Malformed() }
        return Parts(
            version: version,
            signature: Array(blob[1..<1 + length]),
            certificate: Array(blob[(5 + length)..<(5 + length + size)]),
            rest: Array(blob[(5 + length + size)...]),
            info: try Base64.decode(Array(info.utf8), .standard, padding: .required)
        )
    }

    private static func isRight(_ receipt: [UInt8], _ version: OldReceiptSigner.Version) throws -> Bool {
        let parts = try parts(of: receipt)
        guard parts.rest.isEmpty, parts.version == version.rawValue else { return false }
        let leaf = try Certificate(der: parts.certificate)
        _ = try OldPlist(parts.info.span)
        return leaf.publicKey.isValidRSA(
            signature: parts.signature,
            message: [parts.version] + parts.info,
            digest: version == .four ? .sha256 : .sha1
        )
    }
}
