package import Crypto
import Encoding
package import HTTP
package import PurchaseModel
package import Storage

/// Signs messages so that any library for Standard Webhooks can check them.
///
/// Source: Standard Webhooks 1.0.0, *Webhook headers*, *Signature scheme*.
package enum WebhookSignature {
    static let idField = "webhook-id"
    static let timestampField = "webhook-timestamp"
    static let signatureField = "webhook-signature"
    static let symmetricScheme = "v1"
    static let asymmetricScheme = "v1a"

    /// The three fields that a message is sent with.
    ///
    /// - Parameters:
    ///   - id: the message's, at every attempt.
    ///   - timestamp: of this attempt, not of what happened.
    ///   - body: exactly the bytes that are sent.
    ///   - secrets: one signature for each, in this order; two while the endpoint changes from one to the other.
    ///   - keys: one signature for each, behind the others.
    /// - Returns: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    /// - Throws: `CryptoError` when OpenSSL cannot sign.
    package static func headers(
        id: WebhookMessageID,
        timestamp: Timestamp,
        body: [UInt8],
        secrets: [WebhookSecret],
        keys: [WebhookSigningKey] = []
    ) throws(CryptoError) -> HTTPFields {
        let seconds = WebhookSignature.seconds(of: timestamp)
        let content = WebhookSignature.content(id: id, timestamp: seconds, body: body)
        var signatures = secrets.map { secret in
            text(symmetricScheme, MessageAuthentication.hmacSHA256(key: secret.bytes, message: content))
        }
        for key in keys { signatures.append(text(asymmetricScheme, try key.key.sign(content))) }
        return [
            idField: id.text, timestampField: seconds, signatureField: signatures.joined(separator: " "),
        ]
    }

    /// What is signed: `id.timestamp.body`.
    static func content(id: WebhookMessageID, timestamp: String, body: [UInt8]) -> [UInt8] {
        Array("\(id.text).\(timestamp).".utf8) + body
    }

    /// Whole seconds since 1970, rounded down.
    private static func seconds(of timestamp: Timestamp) -> String {
        let (seconds, rest) = timestamp.milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return String(rest < 0 ? seconds - 1 : seconds)
    }

    private static func text(_ scheme: String, _ signature: [UInt8]) -> String {
        scheme + "," + String(decoding: Base64.encode(signature, .standard, isPadded: true), as: UTF8.self)
    }
}
