import Crypto
import Encoding
package import Storage

/// What Assay and one endpoint share, to sign messages by HMAC-SHA-256, as text: `whsec_` and base64.
///
/// Source: Standard Webhooks 1.0.0, *Signature scheme*.
extension WebhookSecret {
    private static let prefix = "whsec_"
    /// How many bytes the specification allows.
    private static let lengths = 24...64
    /// As many as the hash has.
    private static let ownLength = 32

    /// A new secret of the system's random numbers.
    package static func generate() -> WebhookSecret {
        guard let secret = WebhookSecret(SecureRandom.bytes(ownLength)) else { preconditionFailure("32 bytes are one") }
        return secret
    }

    /// Nil unless the text is `whsec_` and the base64, padded or not, of 24 to 64 bytes.
    package init?(text: String) {
        guard let bytes = WebhookKeyText.bytes(of: text, WebhookSecret.prefix),
            WebhookSecret.lengths.contains(bytes.count)
        else { return nil }
        self.init(bytes)
    }

    /// The form in which it is handed to who runs the endpoint. It is the secret itself: for no log.
    package var text: String { WebhookKeyText.text(bytes, WebhookSecret.prefix) }
}

/// Keys as text: a prefix that says which kind, and base64.
enum WebhookKeyText {
    static func bytes(of text: String, _ prefix: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.starts(with: prefix.utf8) else { return nil }
        return try? Base64.decode(letters[prefix.utf8.count...], .standard, padding: .optional)
    }

    static func text(_ bytes: [UInt8], _ prefix: String) -> String {
        prefix + String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }
}
