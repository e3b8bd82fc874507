import Crypto
import Encoding
package import HTTP
package import PurchaseModel
package import Storage

/// Why a message is not believed. No case is worth another try with the same bytes.
package enum WebhookFault: String, Error, Equatable, Sendable, CaseIterable {
    /// A field is missing, or stands there twice.
    case header = "header_missing"
    /// The name has a full stop, a space or other bytes that no message of ours has.
    case id = "id_malformed"
    /// No whole number of seconds.
    case timestamp = "timestamp_malformed"
    case tooOld = "too_old"
    case tooNew = "too_new"
    /// No signature is one by a secret or a key that is known.
    case signature = "no_matching_signature"
}

/// The receiver's side: whether a message is from who holds one of these secrets or keys, and new.
///
/// It says nothing of a message that comes twice within the tolerance: remember its id.
package struct WebhookVerifier: Sendable {
    /// Between the attempt and now, either way: the specification's libraries have the same.
    package static let tolerance = Duration.seconds(300)
    /// Each costs a comparison, and one by a key a check of the signature.
    private static let signaturesMax = 32

    private let secrets: [WebhookSecret]
    private let keys: [WebhookVerifyingKey]

    /// - Parameters:
    ///   - secrets: any one of them will do; two while changing from one to the other.
    ///   - keys: the same for signatures without a shared secret.
    package init(secrets: [WebhookSecret], keys: [WebhookVerifyingKey] = []) {
        self.secrets = secrets
        self.keys = keys
    }

    /// Checks one message.
    ///
    /// - Parameters:
    ///   - fields: the request's.
    ///   - body: the request's, byte for byte, never decoded and encoded again.
    ///   - now: the receiver's time.
    /// - Returns: the message's name, to tell whether it came before.
    /// - Throws: ``WebhookFault``.
    @discardableResult
    package func check(_ fields: HTTPFields, body: [UInt8], at now: Timestamp) throws(WebhookFault) -> WebhookMessageID
    {
        guard let name = fields.single(WebhookSignature.idField),
            let time = fields.single(WebhookSignature.timestampField),
            let list = fields.single(WebhookSignature.signatureField)
        else { throw .header }
        guard let id = WebhookMessageID(name) else { throw .id }
        guard (1...12).contains(time.utf8.count), time.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int64(time)
        else { throw .timestamp }
        let age = Timestamp(seconds: seconds).duration(to: now)
        if age > WebhookVerifier.tolerance { throw .tooOld }
        if age < .zero - WebhookVerifier.tolerance { throw .tooNew }
        guard isSigned(WebhookSignature.content(id: id, timestamp: time, body: body), list) else { throw .signature }
        return id
    }

    private func isSigned(_ content: [UInt8], _ list: String) -> Bool {
        let expected = secrets.map { MessageAuthentication.hmacSHA256(key: $0.bytes, message: content) }
        return list.utf8.split(separator: UInt8(ascii: " ")).prefix(WebhookVerifier.signaturesMax).contains { item in
            let parts = item.split(separator: UInt8(ascii: ","), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2,
                let signature = try? Base64.decode(Array(parts[1]), .standard, padding: .required)
            else { return false }
            if parts[0].elementsEqual(WebhookSignature.symmetricScheme.utf8) {
                return expected.contains { MessageAuthentication.areEqual($0, signature) }
            }
            guard parts[0].elementsEqual(WebhookSignature.asymmetricScheme.utf8) else { return false }
            return keys.contains { $0.key.isValid(signature: signature, message: content) }
        }
    }
}
