package import Crypto
import Encoding

/// Signs JSON as the App Store signs StoreKit 2's facts: compact JWS, ES256, the certificates in `x5c`.
///
/// Source: RFC 7515 §§ 3.1, 4.1, 7.1; RFC 7518 § 3.4.
package struct JWSSigner: Sendable {
    package var chain: SigningChain
    /// Xcode names its key and the token's type in the header; the App Store does not.
    package var isXcode: Bool

    package init(_ chain: SigningChain, isXcode: Bool = false) {
        self.chain = chain
        self.isXcode = isXcode
    }

    package func sign(_ payload: Payload) throws(CryptoError) -> String {
        try sign(json: payload.json)
    }

    /// Signs any bytes as the payload, JSON or not.
    package func sign(json: [UInt8]) throws(CryptoError) -> String {
        try sign(json: json, header: header.json)
    }

    /// Signs under a header of the caller's, JSON or not.
    package func sign(json: [UInt8], header: [UInt8]) throws(CryptoError) -> String {
        let input = JWSSigner.text(header) + [UInt8(ascii: ".")] + JWSSigner.text(json)
        return JWSSigner.join(input, try signature(over: input))
    }

    /// The header of a right token.
    package var header: Payload {
        var header = Payload()
        header["alg"] = .text("ES256")
        if isXcode {
            header["kid"] = .text("Apple_Xcode_Key")
            header["typ"] = .text("JWT")
        }
        let certificates = chain.certificates.map { certificate in
            Payload.Value.text(
                String(decoding: Base64.encode(certificate, .standard, isPadded: true), as: UTF8.self)
            )
        }
        header["x5c"] = .list(certificates)
        return header
    }

    /// A leaf with a key of another kind signs as such a key does; the token is wrong then, and only by that.
    func signature(over input: [UInt8]) throws(CryptoError) -> [UInt8] {
        if chain.key.publicKey.kind == .p256 { return try chain.key.signES256(input) }
        return try chain.key.sign(input, digest: .sha256)
    }

    static func join(_ input: [UInt8], _ signature: [UInt8]) -> String {
        String(decoding: input + [UInt8(ascii: ".")] + text(signature), as: UTF8.self)
    }

    static func text(_ bytes: [UInt8]) -> [UInt8] {
        Base64.encode(bytes, .url, isPadded: false)
    }
}
