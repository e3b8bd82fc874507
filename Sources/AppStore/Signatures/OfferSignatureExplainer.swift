import Crypto
import Encoding
package import PurchaseModel

/// An older signature of a promotional offer as an app hands it to StoreKit.
package struct GivenOfferSignature: Hashable, Sendable {
    package var keyID: String
    package var product: String
    package var offer: String
    /// `appAccountToken` or `applicationUsername`.
    package var account: String
    package var nonce: String
    package var timestamp: Int64
    package var signature: String

    package init(
        keyID: String,
        product: String,
        offer: String,
        account: String,
        nonce: String,
        timestamp: Int64,
        signature: String
    ) {
        self.keyID = keyID
        self.product = product
        self.offer = offer
        self.account = account
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
    }
}

// StoreKit says *invalid offer signature* of everything. This says what it is.
extension MerchantSigner {
    /// - Parameters:
    ///   - given: as it is handed to StoreKit.
    ///   - now: what its age is measured by.
    /// - Returns: everything that is wrong; empty for a good one.
    package func explain(_ given: GivenOfferSignature, at now: Timestamp) -> [SignatureFinding] {
        var findings: [SignatureFinding] = []
        if given.keyID != key.keyID { findings.append(.otherKeyID) }
        if given.product.isEmpty || given.offer.isEmpty { findings.append(.emptyField) }
        if UUIDText.halves(given.nonce) == nil {
            findings.append(.nonceNotUUID)
        } else if given.nonce != given.nonce.lowercased() {
            findings.append(.nonceUpperCase)
        }
        findings += MerchantSigner.age(milliseconds: given.timestamp, at: now)
        let (form, der) = MerchantSigner.der(given.signature)
        if let form { findings.append(form) }
        guard let der else { return findings }
        if !isSigned(der, Variant(given)) { findings.append(cause(of: der, given)) }
        return findings
    }

    /// The fields as they may have been signed, and what stood between them.
    private struct Variant {
        var product: String
        var offer: String
        var account: String?
        var nonce: String
        var timestamp: Int64
        var separator = OfferSignature.separator

        init(_ given: GivenOfferSignature) {
            product = given.product
            offer = given.offer
            account = given.account.lowercased()
            nonce = given.nonce.lowercased()
            timestamp = given.timestamp
        }

        func changed(_ change: (inout Variant) -> Void) -> Variant {
            var variant = self
            change(&variant)
            return variant
        }
    }

    private func isSigned(_ der: [UInt8], _ variant: Variant) -> Bool {
        let account = variant.account.map { [$0] } ?? []
        let fields =
            [bundleID.text, key.keyID, variant.product, variant.offer] + account
            + [variant.nonce, String(variant.timestamp)]
        let message = Array(fields.joined(separator: variant.separator).utf8)
        return key.privateKey.publicKey.isValidES256(der: der, message: message)
    }

    /// The mistakes that are made most: for which of them does the signature fit?
    private func cause(of der: [UInt8], _ given: GivenOfferSignature) -> SignatureFinding {
        let right = Variant(given)
        var variants: [(SignatureFinding, Variant)] = [
            (.signedUpperCaseNonce, right.changed { $0.nonce = given.nonce.uppercased() }),
            (.signedUpperCaseAccount, right.changed { $0.account = given.account.uppercased() }),
            (.signedUpperCaseAccount, right.changed { $0.account = given.account }),
            (.signedWithoutAccount, right.changed { $0.account = "" }),
            (.signedWithoutAccount, right.changed { $0.account = nil }),
            (.signedSeconds, right.changed { $0.timestamp /= 1_000 }),
            (.productAndOfferSwapped, right.changed { ($0.product, $0.offer) = ($0.offer, $0.product) }),
            (.separatorMissing, right.changed { $0.separator = "" }),
        ]
        for separator in ["|", ",", ":", ";", " ", "\u{200B}", "\u{2062}", "\u{2064}", "\\u2063", "\n"] {
            variants.append((.otherSeparator, right.changed { $0.separator = separator }))
        }
        return variants.first { isSigned(der, $0.1) }?.0 ?? .signatureMismatch
    }

    static func age(milliseconds: Int64, at now: Timestamp) -> [SignatureFinding] {
        guard milliseconds >= 100_000_000_000 else { return [.timestampInSeconds] }
        let moment = Timestamp(milliseconds: milliseconds)
        if moment.advanced(by: .seconds(86_400)) < now { return [.tooOld] }
        return moment > now.advanced(by: .seconds(300)) ? [.fromTheFuture] : []
    }

    /// The signature's bytes, and what is wrong with how they are written.
    private static func der(_ text: String) -> (SignatureFinding?, [UInt8]?) {
        let letters = Array(text.utf8)
        var finding: SignatureFinding?
        var bytes = try? Base64.decode(letters, .standard, padding: .required)
        if bytes == nil {
            bytes = try? Base64.decode(letters, .url, padding: .optional)
            finding = .urlAlphabet
        }
        guard var signature = bytes else { return (.notBase64, nil) }
        if let inner = try? Base64.decode(signature, .standard, padding: .optional), inner.first == 0x30 {
            (finding, signature) = (.encodedTwice, inner)
        }
        if signature.first == 0x30, signature.count >= 8, Int(signature[1]) == signature.count - 2 {
            return (finding, signature)
        }
        return (signature.count == 64 ? .rawSignature : .notECDSA, nil)
    }
}
