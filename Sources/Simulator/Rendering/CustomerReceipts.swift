package import AppleFormats
package import Crypto
import Encoding
import PurchaseModel

/// Makes the receipts that the store would give a customer's device now.
package struct CustomerReceipts: Sendable {
    package let authority: SimulatorAuthority

    package init(_ authority: SimulatorAuthority) {
        self.authority = authority
    }

    /// The app receipt, with all purchases that last.
    package func appReceipt(
        _ ledger: CustomerLedger,
        digest: Digest = .sha256
    ) throws(CryptoError) -> [UInt8] {
        try ReceiptSigner(authority.chain(digest == .sha1 ? .receiptSHA1 : .receiptSHA256), digest: digest)
            .sign(content(ledger))
    }

    /// What the app receipt says, before anybody signs it.
    func content(_ ledger: CustomerLedger) -> SimulatedReceipt {
        var receipt = SimulatedReceipt(app: ledger.app.signing(in: ledger.environment), createdAt: ledger.now)
        receipt.purchases = ledger.lasting.map { sold in
            var fact = sold.fact
            fact.revocation = sold.shownRevocation
            return fact
        }
        if ledger.environment == .production {
            let download = ledger.customer.downloads[ledger.app.bundleID]
            receipt.originallyPurchasedAt = download?.at
            receipt.originalVersion = download?.version
            receipt.versionExternalID = ledger.app.versionExternalID
            // Another number than the app transaction's, and as long.
            if let number = download.flatMap({ Int64($0.appTransactionID) }) {
                receipt.downloadID = 502_000_000_000_000_000 + number % 1_000_000_000_000_000
            }
        }
        return receipt
    }

    /// The iOS 6 receipt of one transaction; today Apple writes version 4.
    package func transactionReceipt(
        _ sold: SoldTransaction,
        _ ledger: CustomerLedger,
        version: OldReceiptSigner.Version = .four
    ) throws(CryptoError) -> [UInt8] {
        let signer = try OldReceiptSigner(authority.chain(version.family), version: version)
        let info = OldPlist.encode(CustomerReceipts.purchaseInfo(sold, ledger))
        return try signer.sign(purchaseInfo: info, of: ledger.app.signing(in: ledger.environment))
    }

    /// What an iOS 6 receipt says of a transaction.
    package static func purchaseInfo(_ sold: SoldTransaction, _ ledger: CustomerLedger) -> [OldPlist.Pair] {
        let fact = sold.fact
        let original = fact.originallyPurchasedAt ?? fact.purchasedAt
        let device = Digest.sha256(Array("\(ledger.customer.name) \(ledger.app.bundleID)".utf8))
        var pairs = OldReceiptSigner.purchaseInfo(fact, of: ledger.app.signing(in: ledger.environment))
        func set(_ key: String, _ value: String) {
            pairs.removeAll { $0.key == key }
            pairs.append(OldPlist.Pair(key: key, value: value))
        }
        set("purchase-date-pst", AppleDateText.pacific(fact.purchasedAt))
        set("original-purchase-date-pst", AppleDateText.pacific(original))
        set("item-id", String(ledger.app.products[fact.product]?.appleID ?? 0))
        set("unique-identifier", Hexadecimal.encode(device.prefix(20)))
        set("unique-vendor-identifier", vendorIdentifier(device))
        if let expiresAt = fact.expiresAt {
            set("expires-date-formatted-pst", AppleDateText.pacific(expiresAt))
            set("is-trial-period", sold.isTrial ? "true" : "false")
            set("is-in-intro-offer-period", sold.isIntroductory && !sold.isTrial ? "true" : "false")
        }
        if ledger.environment == .production {
            set("version-external-identifier", String(ledger.app.versionExternalID))
        }
        return pairs
    }

    /// A UUID of version 4, in upper case.
    private static func vendorIdentifier(_ seed: [UInt8]) -> String {
        var bytes = Array(seed.suffix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hexadecimal.encode(bytes).utf8).map { $0 >= UInt8(ascii: "a") ? $0 - 32 : $0 }
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
    }
}
