package import Crypto
package import Storage

/// The private half of a pair by which messages are signed so that an endpoint needs no secret: `whsk_` and base64.
///
/// Source: Standard Webhooks 1.0.0, *Signature scheme*.
package struct WebhookSigningKey: Sendable, Hashable {
    private static let prefix = "whsk_"

    let key: Ed25519PrivateKey

    /// A new pair of the system's random numbers.
    package init() throws(CryptoError) {
        key = try Ed25519PrivateKey()
    }

    /// Nil unless the text is `whsk_` and the base64 of a seed of 32 bytes, or of a seed with its public key behind it,
    /// as some libraries write it.
    package init?(_ text: String) {
        guard let bytes = WebhookKeyText.bytes(of: text, WebhookSigningKey.prefix),
            bytes.count == 32 || bytes.count == 64,
            let key = try? Ed25519PrivateKey(seed: Array(bytes.prefix(32)))
        else { return nil }
        guard bytes.count == 32 || key.publicKey.bytes.elementsEqual(bytes.suffix(32)) else { return nil }
        self.key = key
    }

    /// Nil unless a seed was kept.
    package init?(kept: WebhookSecret) {
        guard let key = try? Ed25519PrivateKey(seed: kept.bytes) else { return nil }
        self.key = key
    }

    /// The seed, to be kept.
    package var secret: WebhookSecret? { WebhookSecret(key.seed) }

    /// The seed as text. It is the secret itself: for no log, and for nobody but who signs.
    package var text: String { WebhookKeyText.text(key.seed, WebhookSigningKey.prefix) }

    package var verifyingKey: WebhookVerifyingKey { WebhookVerifyingKey(key.publicKey) }

    package static func == (left: WebhookSigningKey, right: WebhookSigningKey) -> Bool {
        left.key.publicKey == right.key.publicKey
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key.publicKey.bytes) }
}

extension WebhookSigningKey: CustomStringConvertible {
    /// Never the secret, wherever a value happens to be written out.
    package var description: String { "WebhookSigningKey(…)" }
}

/// The public half, which an endpoint checks messages by: `whpk_` and base64.
package struct WebhookVerifyingKey: Sendable, Equatable {
    private static let prefix = "whpk_"

    let key: Ed25519PublicKey

    init(_ key: Ed25519PublicKey) {
        self.key = key
    }

    /// Nil unless the text is `whpk_` and the base64 of 32 bytes.
    package init?(_ text: String) {
        guard let bytes = WebhookKeyText.bytes(of: text, WebhookVerifyingKey.prefix),
            let key = try? Ed25519PublicKey(bytes: bytes)
        else { return nil }
        self.key = key
    }

    package var text: String { WebhookKeyText.text(key.bytes, WebhookVerifyingKey.prefix) }
}
