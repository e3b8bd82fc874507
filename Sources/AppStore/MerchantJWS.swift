import Crypto
import Encoding

/// A JWS as merchants sign it: ES256, with the key's id. RFC 7515 § 3.1.
enum MerchantJWS {
    static func sign(_ claims: [UInt8], by key: ServerAPIKey) throws(CryptoError) -> String {
        let header = JSONWriter.object { header in
            header.member("alg", "ES256")
            header.member("kid", key.keyID)
            header.member("typ", "JWT")
        }
        var text = Base64.encode(header, .url, isPadded: false)
        text.append(UInt8(ascii: "."))
        text += Base64.encode(claims, .url, isPadded: false)
        let signature = try key.privateKey.signES256(text)
        text.append(UInt8(ascii: "."))
        text += Base64.encode(signature, .url, isPadded: false)
        return String(decoding: text, as: UTF8.self)
    }
}
