import Crypto
package import PurchaseModel
package import Storage

/// When a message that failed is tried again, and when it is given up.
package struct WebhookSchedule: Sendable, Equatable {
    /// The specification's own: over 75 hours and 35 minutes.
    ///
    /// Source: Standard Webhooks 1.0.0, *Deliverability and reliability*.
    package static let standard = WebhookSchedule(
        pauses: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map { .seconds($0) }
    )

    /// Added to each pause: up to so many hundredths of it, so that what failed together does not come again together.
    static let jitterPercent: Int64 = 20

    /// After the first attempt, which is made at once, after the second, and so on.
    private let pauses: [Duration]

    package init(pauses: [Duration]) {
        self.pauses = pauses
    }

    /// How many attempts there are at most.
    package var attemptsMax: Int { pauses.count + 1 }

    /// How long to wait for the next attempt, never less than the schedule's own pause.
    ///
    /// - Parameters:
    ///   - attempts: how many were made.
    ///   - seed: decides the jitter.
    /// - Returns: nil when there is no further attempt.
    package func pause(after attempts: Int, seed: UInt64) -> Duration? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let pause = pauses[attempts - 1]
        // Thousandths of the range, so that milliseconds are drawn.
        return pause + pause * Int(seed % 1_001) * Int(WebhookSchedule.jitterPercent) / 100_000
    }

    /// A seed that is the same wherever this attempt is made, and another for every other.
    package static func seed(of delivery: WebhookDeliveryID, attempt: Int) -> UInt64 {
        let name = "\(delivery.endpoint.text) \(delivery.event.text) \(attempt)"
        return Digest.sha256(Array(name.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// What becomes of a delivery.
    ///
    /// - Parameters:
    ///   - verdict: on the attempt that was made last.
    ///   - attempts: how many were made, that one included.
    ///   - seed: decides the jitter.
    /// - Returns: for the store.
    package func outcome(of verdict: WebhookVerdict, attempts: Int, seed: UInt64) -> DeliveryOutcome {
        switch verdict {
        case .delivered: .delivered
        case .gone: .gone
        case .notTried: .released
        case .throttled(let wanted), .failed(let wanted):
            pause(after: attempts, seed: seed).map { .again(after: max($0, wanted ?? .zero)) }
                ?? .dead(because: WebhookSchedule.exhausted)
        }
    }

    /// Why a delivery is dead that was tried as often as it may be.
    package static let exhausted = "attempts_exhausted"

    /// Whether an endpoint is to be disabled: nothing but failures for so long. Svix takes five days.
    package static func isHopeless(failingSince: Timestamp?, at now: Timestamp) -> Bool {
        failingSince.map { $0.duration(to: now) >= .seconds(5 * 86_400) } ?? false
    }

    /// Why an endpoint was disabled by ``isHopeless(failingSince:at:)``.
    package static let hopeless = "failing_for_days"
}
