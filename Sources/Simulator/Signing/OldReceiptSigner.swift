package import AppleFormats
package import Crypto
import Encoding
package import PurchaseModel

/// Signs iOS 6 transaction receipts: a text plist around a text plist, the signature with its certificate beside it.
package struct OldReceiptSigner: Sendable {
    /// The format, told by the signature's first byte.
    package enum Version: UInt8, Hashable, Sendable, CaseIterable {
        /// RSA-1024 and SHA-1, until 2016.
        case two = 2
        /// RSA-2048 and SHA-1.
        case three = 3
        /// RSA-2048 and SHA-256, today.
        case four = 4

        package var family: SigningFamily {
            switch self {
            case .two: .oldReceipt
            case .three: .receiptSHA1
            case .four: .receiptSHA256
            }
        }

        var digest: Digest { self == .four ? .sha256 : .sha1 }
    }

    /// Only its first certificate is sent.
    package var chain: SigningChain
    package var version: Version

    package init(_ chain: SigningChain, version: Version) {
        self.chain = chain
        self.version = version
    }

    /// One thing that is wrong with a receipt whose certificate is right.
    package enum Flaw: String, Hashable, Sendable, CaseIterable {
        case purchaseChanged, signatureBitFlipped, signatureTruncated
        case versionUnknown, versionSwapped
        /// The signature leaves out the version's byte.
        case versionNotSigned
        case bytesAfterCertificate, certificateTruncated, certificateMissing
        case signatureNotBase64, purchaseNotBase64, purchaseNotPlist
        case signatureMissing, purchaseMissing
    }

    package func sign(_ purchase: Transaction, of app: SimulatedApp) throws(CryptoError) -> [UInt8] {
        let info = OldPlist.encode(OldReceiptSigner.purchaseInfo(purchase, of: app))
        return OldReceiptSigner.envelope(signature: try blob(over: info), info: info, app)
    }

    /// Signs any bytes as the inner plist.
    package func sign(purchaseInfo info: [UInt8], of app: SimulatedApp) throws(CryptoError) -> [UInt8] {
        OldReceiptSigner.envelope(signature: try blob(over: info), info: info, app)
    }

    /// A receipt that is wrong in one way.
    package func sign(
        _ purchase: Transaction,
        of app: SimulatedApp,
        flaw: Flaw
    ) throws(CryptoError) -> [UInt8] {
        var info = OldPlist.encode(OldReceiptSigner.purchaseInfo(purchase, of: app))
        if flaw == .purchaseNotPlist { info = Array("no plist".utf8) }
        var blob = try blob(over: info)
        let length = chain.key.publicKey.der.count > 200 ? 256 : 128
        switch flaw {
        case .purchaseChanged:
            var changed = purchase
            changed.quantity += 1
            info = OldPlist.encode(OldReceiptSigner.purchaseInfo(changed, of: app))
        case .signatureBitFlipped: blob[length / 2] ^= 1
        case .signatureTruncated: blob.remove(at: length)
        case .versionUnknown: blob[0] = 5
        case .versionSwapped: blob[0] = version == .two ? 3 : 2
        case .versionNotSigned:
            let signature = try chain.key.signRSA(info, digest: version.digest)
            blob.replaceSubrange(1..<1 + signature.count, with: signature)
        case .bytesAfterCertificate: blob.append(0)
        case .certificateTruncated: blob.removeLast()
        case .certificateMissing: blob.removeSubrange((1 + length)...)
        default: break
        }
        return OldReceiptSigner.envelope(signature: blob, info: info, app, flaw)
    }

    /// Version, signature, the certificate's length in four bytes, the certificate.
    private func blob(over info: [UInt8]) throws(CryptoError) -> [UInt8] {
        let certificate = chain.certificates.first ?? []
        let signature = try chain.key.signRSA([version.rawValue] + info, digest: version.digest)
        let length = UInt32(certificate.count)
        let lengthBytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
        return [version.rawValue] + signature + lengthBytes + certificate
    }

    private static func envelope(
        signature: [UInt8],
        info: [UInt8],
        _ app: SimulatedApp,
        _ flaw: Flaw? = nil
    ) -> [UInt8] {
        func text(_ bytes: [UInt8], isBroken: Bool) -> String {
            (isBroken ? "*" : "") + String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
        }
        var pairs: [OldPlist.Pair] = []
        if flaw != .signatureMissing {
            let value = text(signature, isBroken: flaw == .signatureNotBase64)
            pairs.append(OldPlist.Pair(key: "signature", value: value))
        }
        if flaw != .purchaseMissing {
            let value = text(info, isBroken: flaw == .purchaseNotBase64)
            pairs.append(OldPlist.Pair(key: "purchase-info", value: value))
        }
        if !app.isProduction { pairs.append(OldPlist.Pair(key: "environment", value: "Sandbox")) }
        pairs.append(OldPlist.Pair(key: "pod", value: "100"))
        pairs.append(OldPlist.Pair(key: "signing-status", value: "0"))
        return OldPlist.encode(pairs)
    }

    /// The inner plist. Apple's order is that of a hash table, so any will do.
    package static func purchaseInfo(_ purchase: Transaction, of app: SimulatedApp) -> [OldPlist.Pair] {
        let original = purchase.originallyPurchasedAt ?? purchase.purchasedAt
        var pairs = [
            ("original-transaction-id", (purchase.originalID ?? purchase.id).description),
            ("bvrs", app.version),
            ("transaction-id", purchase.id.description),
            ("quantity", String(purchase.quantity)),
            ("original-purchase-date-ms", String(original.milliseconds)),
            ("original-purchase-date", AppleDateText.greenwich(original)),
            ("product-id", purchase.product.text),
            ("item-id", "1061557484"),
            ("bid", app.bundleID.text),
            ("purchase-date-ms", String(purchase.purchasedAt.milliseconds)),
            ("purchase-date", AppleDateText.greenwich(purchase.purchasedAt)),
            ("unique-identifier", String(repeating: "5", count: 40)),
        ]
        if let expiresAt = purchase.expiresAt {
            pairs.append(("expires-date", String(expiresAt.milliseconds)))
            pairs.append(("expires-date-formatted", AppleDateText.greenwich(expiresAt)))
            pairs.append(("web-order-line-item-id", purchase.webOrderLineItem ?? "0"))
        }
        if app.isProduction { pairs.append(("app-item-id", String(app.appleID))) }
        return pairs.map { OldPlist.Pair(key: $0.0, value: $0.1) }
    }
}
