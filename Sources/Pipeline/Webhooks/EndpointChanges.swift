import Crypto
import Encoding
package import PurchaseModel
package import Storage

/// What people and keys do to an endpoint: whoever asks, it is done by these.
extension WebhookEndpoint {
    /// The word for an endpoint that somebody disabled.
    package static let byRequest = "by_request"

    /// Whether it is disabled though nobody wished it: its receiver answered 410, or failed for days.
    package var wasSwitchedOff: Bool { !isEnabled && disabledReason.map { $0 != Self.byRequest } ?? false }

    /// A new secret signs beside the others; the oldest goes where there are too many.
    package mutating func addSecret() {
        secrets = Array(([WebhookSecret.generate()] + secrets).prefix(Self.secretsMax))
    }

    /// So many of the newest secrets stay.
    package mutating func keepSecrets(_ count: Int) { secrets = Array(secrets.prefix(max(1, count))) }

    /// Has messages signed by a private key as well, or not any more. Each time that it begins it is another key: as many random
    /// bytes as a new secret has are its seed.
    package mutating func setAsymmetric(_ isAsymmetric: Bool) {
        if isAsymmetric != (signingKey != nil) { signingKey = isAsymmetric ? .generate() : nil }
    }

    /// What its messages' `v1a` signatures are checked by; `nil` when they have none.
    package var publicKey: WebhookVerifyingKey? {
        signingKey.flatMap(WebhookSigningKey.init(kept:))?.verifyingKey
    }

    /// Disables or enables it, as somebody wishes.
    ///
    /// - Parameters:
    ///   - isEnabled: the wish.
    ///   - now: the moment.
    ///   - last: the end of its app's feed.
    package mutating func setEnabled(_ isEnabled: Bool, at now: Timestamp, after last: EventCursor) {
        if isEnabled { enable(at: now) } else { disable(because: Self.byRequest, at: now, after: last) }
    }

    /// What it missed until now is offered no longer: its owner has it from elsewhere, or does without.
    package mutating func putMissedAside() { gap = nil }
}

/// What an endpoint was not sent because it was disabled: a replay of these events makes good for it. It is offered until that
/// was done, or put aside, and grows with each time that it is disabled before.
package struct MissedEvents: Hashable, Sendable {
    /// Whose clock dated an event need not be whose dated the disabling. What is sent twice by that has the same name.
    private static let doubt = Duration.seconds(60)

    package let from: Timestamp
    package let to: Timestamp
    /// The place behind which they stand.
    package let after: EventCursor

    /// `nil` when nothing is known that it missed, or it is disabled still. There may be more than is seen by now: what another
    /// node is just writing found it disabled.
    package init?(of endpoint: WebhookEndpoint) {
        guard endpoint.isEnabled, let gap = endpoint.gap else { return nil }
        from = gap.from.advanced(by: .zero - Self.doubt)
        to = gap.to.advanced(by: Self.doubt)
        after = gap.after
    }

    /// What a replay of just these moments is to send; `nil` for one of others.
    func undelivered(ifAskedBy replay: WebhookReplay) -> WebhookReplay? {
        replay == .learned(from: from, to: to) ? .undelivered(from: from, to: to) : nil
    }

    /// Whether a replay that goes on from a place sends all of it, once its last step is made. A place behind its own is another
    /// endpoint's, or of another time.
    func isSent(by replay: WebhookReplay, after cursor: EventCursor) -> Bool {
        guard case .learned(let first, let end) = replay else { return false }
        return first <= from && to <= end && cursor <= after
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
