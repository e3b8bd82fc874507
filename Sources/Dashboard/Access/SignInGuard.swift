package import PurchaseModel
package import Storage
import Synchronization

/// Slows down who guesses passwords, and never locks out who knows one.
///
/// A browser that was signed in before is told by its old cookie, and counted for itself: others who fail in the account's
/// name do not slow it down. All strangers to an account are counted together, and all tries from one address too; behind a
/// proxy that is the proxy's, so the longest wait is short.
package final class SignInGuard: Sendable {
    /// Who tries.
    package struct Attempt: Sendable {
        let name: AdminName
        let remote: String
        /// The digest of a session that this account had in this browser.
        let device: [UInt8]?

        package init(name: AdminName, remote: String, device: [UInt8]?) {
            self.name = name
            self.remote = remote
            self.device = device
        }
    }

    private enum Name: Hashable {
        case device([UInt8])
        case account(AdminName)
        case remote(String)
    }

    private struct Failures {
        var count = 0
        var last: Timestamp
    }

    /// What one person may mistype without a wait.
    package static let freeOfAccount = 5
    /// People who share an address mistype, too.
    package static let freeOfRemote = 20
    package static let waitMax = Duration.seconds(60)
    /// After that long without a failure all is forgotten.
    package static let memory = Duration.seconds(900)
    /// Names that are counted at once; beyond it the counts begin anew.
    private static let namesMax = 10_000

    private let failures = Mutex<[Name: Failures]>([:])

    package init() {}

    /// Counts a try as failed until ``succeeded(_:)`` takes it back: tries at the same time count each other.
    ///
    /// - Returns: how long to wait; `nil` when the password may be looked at now.
    package func begin(_ attempt: Attempt, at now: Timestamp) -> Duration? {
        failures.withLock { failures in
            if failures.count > Self.namesMax { failures = [:] }
            let names = Self.names(attempt)
            for (name, free) in names {
                guard let known = failures[name] else { continue }
                let since = known.last.duration(to: now)
                if since > Self.memory || since < .zero {
                    failures[name] = nil
                } else if since < Self.wait(after: known.count, free: free) {
                    return Self.wait(after: known.count, free: free) - since
                }
            }
            for (name, _) in names {
                failures[name] = Failures(count: (failures[name]?.count ?? 0) + 1, last: now)
            }
            return nil
        }
    }

    package func succeeded(_ attempt: Attempt) {
        failures.withLock { failures in
            for (name, _) in Self.names(attempt) {
                switch name {
                case .device, .account: failures[name] = nil
                // One password that is known does not clear who guesses others.
                case .remote: failures[name]?.count -= 1
                }
            }
        }
    }

    private static func names(_ attempt: Attempt) -> [(Name, free: Int)] {
        if let device = attempt.device { return [(.device(device), freeOfAccount)] }
        return [(.account(attempt.name), freeOfAccount), (.remote(attempt.remote), freeOfRemote)]
    }

    /// A second, two, four … a minute.
    private static func wait(after count: Int, free: Int) -> Duration {
        guard count >= free else { return .zero }
        return min(.seconds(1 << min(count - free, 6)), waitMax)
    }
}
