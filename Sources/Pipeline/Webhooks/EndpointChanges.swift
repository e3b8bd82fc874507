import Crypto
import Encoding
package import Storage

/// What people and keys do to an endpoint: whoever asks, it is done by these.
extension WebhookEndpoint {
    /// The word for an endpoint that somebody disabled.
    package static let byRequest = "by_request"

    /// A new secret signs beside the others; the oldest goes where there are too many.
    package mutating func addSecret() {
        secrets = Array(([WebhookSecret.generate()] + secrets).prefix(Self.secretsMax))
    }

    /// So many of the newest secrets stay.
    package mutating func keepSecrets(_ count: Int) { secrets = Array(secrets.prefix(max(1, count))) }

    package mutating func setEnabled(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
        disabledReason = isEnabled ? nil : Self.byRequest
    }
}

extension WebhookMessageID {
    /// One for a message that stands for nothing.
    package static func ofTest() -> WebhookMessageID {
        guard let id = WebhookMessageID("msg_" + Hexadecimal.encode(SecureRandom.bytes(12))) else {
            preconditionFailure("hexadecimal digits are a name")
        }
        return id
    }
}
