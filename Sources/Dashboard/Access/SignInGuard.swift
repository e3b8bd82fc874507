package import HTTP
package import PurchaseModel
package import Storage
import Synchronization

/// Slows down who guesses passwords, and never locks out who knows one.
///
/// A browser that was signed in before is told by its old cookie, and counted for itself: others who fail in the account's
/// name do not slow it down. All strangers to an account are counted together, and all tries from one network too; behind a
/// proxy that is the proxy's address, so the longest wait is short.
package final class SignInGuard: Sendable {
    /// Who tries.
    package struct Attempt: Sendable {
        let name: AdminName
        let remote: HTTPRemote
        /// The digest of a session that this account had in this browser.
        let device: [UInt8]?

        package init(name: AdminName, remote: HTTPRemote, device: [UInt8]?) {
            self.name = name
            self.remote = remote
            self.device = device
        }
    }

    private enum Name: Hashable {
        case device([UInt8])
        case account(AdminName)
        case remote([UInt8])
        /// All further accounts, and all further networks, while as many are counted as can be.
        case furtherAccounts
        case furtherRemotes

        /// How many failures cost nothing.
        var free: Int {
            switch self {
            case .device, .account, .furtherAccounts: freeOfAccount
            case .remote, .furtherRemotes: freeOfRemote
            }
        }

        /// What counts this one where there is no room for it. Of devices there are as many as sessions were begun.
        var further: Name {
            switch self {
            case .device: self
            case .account, .furtherAccounts: .furtherAccounts
            case .remote, .furtherRemotes: .furtherRemotes
            }
        }
    }

    private struct Failures {
        var count = 0
        var last: Timestamp

        func isOver(at now: Timestamp) -> Bool {
            let since = last.duration(to: now)
            return since > memory || since < .zero
        }
    }

    /// What one person may mistype without a wait.
    package static let freeOfAccount = 5
    /// People who share an address mistype, too.
    package static let freeOfRemote = 20
    package static let waitMax = Duration.seconds(60)
    /// After that long without a failure all is forgotten.
    package static let memory = Duration.seconds(900)
    /// Names that are counted at once. Beyond it those go whose time is over, and then those under which nobody has to wait yet:
    /// a flood of made-up names frees none that has. Where those have more than half of the room, they keep it, and further
    /// names are counted together: in what little is left, none would ever be counted for long.
    package static let namesMax = 10_000

    private let failures = Mutex<[Name: Failures]>([:])

    package init() {}

    /// Counts a try as failed until ``succeeded(_:)`` takes it back: tries at the same time count each other.
    ///
    /// - Returns: how long to wait; `nil` when the password may be looked at now.
    package func begin(_ attempt: Attempt, at now: Timestamp) -> Duration? {
        failures.withLock { failures in
            let asked = Self.names(attempt)
            if failures.count >= Self.namesMax, asked.contains(where: { failures[$0] == nil }) {
                Self.makeRoom(in: &failures, at: now)
            }
            let names = Self.counted(asked, in: failures)
            for name in names {
                guard let known = failures[name] else { continue }
                if known.isOver(at: now) {
                    failures[name] = nil
                    continue
                }
                let (since, wait) = (known.last.duration(to: now), Self.wait(after: known.count, free: name.free))
                if since < wait { return wait - since }
            }
            for name in names {
                failures[name] = Failures(count: (failures[name]?.count ?? 0) + 1, last: now)
            }
            return nil
        }
    }

    package func succeeded(_ attempt: Attempt) {
        failures.withLock { failures in
            for name in Self.counted(Self.names(attempt), in: failures) {
                switch name {
                case .device, .account: failures[name] = nil
                // One password that is known does not clear who guesses others.
                case .remote, .furtherAccounts, .furtherRemotes: failures[name]?.count -= 1
                }
            }
        }
    }

    private static func names(_ attempt: Attempt) -> [Name] {
        if let device = attempt.device { return [.device(device)] }
        return [.account(attempt.name), .remote(attempt.remote.network)]
    }

    /// What counts them: themselves, as long as there is room.
    private static func counted(_ names: [Name], in failures: [Name: Failures]) -> [Name] {
        names.map { failures[$0] != nil || failures.count < namesMax ? $0 : $0.further }
    }

    private static func makeRoom(in failures: inout [Name: Failures], at now: Timestamp) {
        failures = failures.filter { !$0.value.isOver(at: now) }
        guard failures.count >= namesMax else { return }
        let waiting = failures.filter { $0.value.count >= $0.key.free }
        if waiting.count <= namesMax / 2 { failures = waiting }
    }

    /// A second, two, four … a minute.
    private static func wait(after count: Int, free: Int) -> Duration {
        guard count >= free else { return .zero }
        return min(.seconds(1 << min(count - free, 6)), waitMax)
    }
}
