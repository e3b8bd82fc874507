import AppleFormats
import Crypto
import Encoding
package import PurchaseModel

// What is wrong with a request that was signed as a JWS.
extension MerchantSigner {
    /// - Parameters:
    ///   - text: as it is handed to StoreKit.
    ///   - now: what its age is measured by. Apple names no limit; a day is that of the older signature.
    /// - Returns: everything that is wrong; empty for a good one.
    package func explain(request text: String, at now: Timestamp) -> [SignatureFinding] {
        guard let token = try? CompactJWS(Array(text.utf8)), let header = try? token.headerBytes(),
            let payload = try? token.payloadBytes(), let headerObject = try? JSONDocument(header).root.object,
            let claims = try? JSONDocument(payload).root.object
        else { return [.notJWS] }
        var findings: [SignatureFinding] = []
        if headerObject["alg"]?.string != "ES256" || headerObject["typ"].map({ $0.string != "JWT" }) ?? false {
            findings.append(.algorithm)
        }
        if headerObject["kid"]?.string != key.keyID { findings.append(.otherKeyID) }
        if claims["iss"]?.string != key.issuerID { findings.append(.otherIssuer) }
        if claims["bid"]?.string != bundleID.text { findings.append(.otherBundleID) }
        if (claims["nonce"]?.string).flatMap({ UUIDText.halves($0) }) == nil { findings.append(.nonceNotUUID) }
        findings += MerchantSigner.age(of: claims, at: now)
        findings += MerchantSigner.content(of: claims)
        findings += signature(of: token)
        return findings
    }

    private static func age(of claims: JSONObject, at now: Timestamp) -> [SignatureFinding] {
        guard let seconds = claims["iat"]?.int64 else { return [.claim] }
        if seconds >= 100_000_000_000 { return [.timestampInMilliseconds] }
        return age(milliseconds: Timestamp(seconds: seconds).milliseconds, at: now)
    }

    private static func content(of claims: JSONObject) -> [SignatureFinding] {
        func has(_ names: String...) -> Bool { names.allSatisfy { claims[$0]?.string?.isEmpty == false } }
        switch (claims["aud"]?.string).flatMap(SignedRequestKind.init(rawValue:)) {
        case .promotionalOffer:
            let isRight =
                has("productId", "offerIdentifier") && (claims["transactionId"] == nil || has("transactionId"))
            return isRight ? [] : [.claim]
        case .introductoryOffer:
            return has("productId", "transactionId") && claims["allowIntroductoryOffer"]?.bool != nil ? [] : [.claim]
        case .advancedCommerce:
            guard has("request"), let text = claims["request"]?.string else { return [.claim] }
            let bytes = try? Base64.decode(Array(text.utf8), .standard, padding: .required)
            return bytes.flatMap { try? JSONDocument($0).root.object } == nil ? [.request] : []
        case nil: return [.audience]
        }
    }

    private func signature(of token: CompactJWS) -> [SignatureFinding] {
        let message = Array(token.bytes[..<(token.signatureSegment.startIndex - 1)])
        guard let bytes = try? Base64.decode(token.signatureSegment, .url, padding: .forbidden) else {
            return [.notBase64]
        }
        if bytes.count == CompactJWS.signatureSize {
            let isRight = key.privateKey.publicKey.isValidES256(signature: bytes, message: message)
            return isRight ? [] : [.signatureMismatch]
        }
        guard bytes.first == 0x30 else { return [.notECDSA] }
        // Whether it is at least the right key's.
        let isOurs = key.privateKey.publicKey.isValidES256(der: bytes, message: message)
        return isOurs ? [.derSignature] : [.derSignature, .signatureMismatch]
    }
}
