package import Crypto
import Encoding

/// One thing that is wrong with a token whose chain is right.
package enum JWSFlaw: String, Hashable, Sendable, CaseIterable {
    /// `alg` is `none`, and there is no signature.
    case algorithmNone
    /// `alg` is `none`, and the signature is right.
    case algorithmNoneButSigned
    /// `alg` is `HS256`; the leaf's public key is the secret.
    case algorithmHS256
    case algorithmES384, algorithmInLowerCase, algorithmMissing, algorithmNotText
    /// `crit` names what nobody knows (RFC 7515 § 4.1.11).
    case criticalHeader
    /// The header brings its own key as `jwk`, which signs.
    case ownKeyInHeader
    case certificatesMissing, certificatesEmpty, certificatesNotList, certificatesNotText
    /// Base64url where Base64 belongs.
    case certificatesInURLAlphabet
    case certificateTruncated
    case headerNotJSON, headerKeyTwice
    case payloadNotJSON, payloadNotObject, payloadEmpty
    /// Changed after it was signed.
    case payloadChanged, headerChanged
    case signatureEmpty, signatureOfZeros, signatureAsDER
    case signatureShortened, signatureLengthened, signatureBitFlipped
    case twoSegments, fourSegments, padded, blankAtEnd
}

extension JWSSigner {
    /// A token that is wrong in one way.
    package func sign(_ payload: Payload, flaw: JWSFlaw) throws(CryptoError) -> String {
        switch flaw {
        case .algorithmNone, .algorithmNoneButSigned, .algorithmHS256, .algorithmES384, .algorithmInLowerCase,
            .algorithmMissing, .algorithmNotText, .criticalHeader, .ownKeyInHeader, .headerNotJSON, .headerKeyTwice:
            try withFlawedHeader(payload.json, flaw)
        case .certificatesMissing, .certificatesEmpty, .certificatesNotList, .certificatesNotText,
            .certificatesInURLAlphabet, .certificateTruncated:
            try sign(json: payload.json, header: headerWithFlawedCertificates(flaw).json)
        case .payloadNotJSON: try sign(json: Array("{\"a\":".utf8))
        case .payloadNotObject: try sign(json: Array("[1]".utf8))
        case .payloadEmpty: try sign(json: [])
        default: try tampered(payload, flaw)
        }
    }

    private func withFlawedHeader(_ json: [UInt8], _ flaw: JWSFlaw) throws(CryptoError) -> String {
        var header = header
        switch flaw {
        case .algorithmNone:
            header["alg"] = .text("none")
            return JWSSigner.join(Self.text(header.json) + [UInt8(ascii: ".")] + Self.text(json), [])
        case .algorithmHS256:
            header["alg"] = .text("HS256")
            let input = Self.text(header.json) + [UInt8(ascii: ".")] + Self.text(json)
            let secret = chain.key.publicKey.der
            return Self.join(input, MessageAuthentication.hmacSHA256(key: secret, message: input))
        case .ownKeyInHeader:
            var own = self
            own.chain.key = try PrivateKey(generate: .p256)
            header["jwk"] = .object(Self.webKey(of: own.chain.key.publicKey))
            return try own.sign(json: json, header: header.json)
        case .headerNotJSON: return try sign(json: json, header: Array("ES256".utf8))
        case .headerKeyTwice:
            return try sign(json: json, header: Array("{\"alg\":\"none\",".utf8) + header.json.dropFirst())
        case .algorithmNoneButSigned: header["alg"] = .text("none")
        case .algorithmES384: header["alg"] = .text("ES384")
        case .algorithmInLowerCase: header["alg"] = .text("es256")
        case .algorithmNotText: header["alg"] = .number(256)
        case .criticalHeader:
            header["crit"] = .list([.text("simulated")])
            header["simulated"] = .flag(true)
        default: header["alg"] = nil
        }
        return try sign(json: json, header: header.json)
    }

    private func headerWithFlawedCertificates(_ flaw: JWSFlaw) -> Payload {
        var header = header
        let certificates = chain.certificates
        func list(_ certificates: [[UInt8]], _ alphabet: Base64.Alphabet) -> Payload.Value {
            .list(
                certificates.map {
                    .text(String(decoding: Base64.encode($0, alphabet, isPadded: true), as: UTF8.self))
                }
            )
        }
        switch flaw {
        case .certificatesEmpty: header["x5c"] = .list([])
        case .certificatesNotList:
            header["x5c"] = .text(
                String(decoding: Base64.encode(certificates.first ?? [], .standard, isPadded: true), as: UTF8.self)
            )
        case .certificatesNotText: header["x5c"] = .list([.number(1), .number(2), .number(3)])
        case .certificatesInURLAlphabet: header["x5c"] = list(certificates, .url)
        case .certificateTruncated:
            header["x5c"] = list([Array((certificates.first ?? []).dropLast())] + certificates.dropFirst(), .standard)
        default: header["x5c"] = nil
        }
        return header
    }

    private func tampered(_ payload: Payload, _ flaw: JWSFlaw) throws(CryptoError) -> String {
        let dot = [UInt8(ascii: ".")]
        let (head, body) = (Self.text(header.json), Self.text(payload.json))
        var signature = try signature(over: head + dot + body)
        switch flaw {
        case .payloadChanged:
            var changed = payload
            changed["simulatedChange"] = .flag(true)
            return Self.join(head + dot + Self.text(changed.json), signature)
        case .headerChanged:
            var changed = header
            changed["simulatedChange"] = .flag(true)
            return Self.join(Self.text(changed.json) + dot + body, signature)
        case .twoSegments: return String(decoding: head + dot + body, as: UTF8.self)
        case .fourSegments: return Self.join(head + dot + body + dot + body, signature)
        case .padded: return Self.join(head + dot + body, signature) + "=="
        case .blankAtEnd: return Self.join(head + dot + body, signature) + "\n"
        case .signatureEmpty: signature = []
        case .signatureOfZeros: signature = [UInt8](repeating: 0, count: 64)
        case .signatureAsDER: signature = try chain.key.sign(head + dot + body, digest: .sha256)
        case .signatureShortened: signature.removeLast()
        case .signatureLengthened: signature.append(0)
        default: signature[40] ^= 1
        }
        return Self.join(head + dot + body, signature)
    }

    /// RFC 7518 § 6.2.
    private static func webKey(of key: PublicKey) -> Payload {
        let point = key.der.suffix(64)
        var jwk = Payload()
        jwk["kty"] = .text("EC")
        jwk["crv"] = .text("P-256")
        jwk["x"] = .text(String(decoding: text(Array(point.prefix(32))), as: UTF8.self))
        jwk["y"] = .text(String(decoding: text(Array(point.suffix(32))), as: UTF8.self))
        return jwk
    }
}
