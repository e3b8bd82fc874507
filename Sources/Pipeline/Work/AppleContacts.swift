package import AppStore
import HTTP
package import PurchaseModel
import Synchronization

/// When Apple was last asked for each app, and how it went. It is forgotten with the process: it is for people to look at.
package final class AppleContacts: Sendable {
    package struct Contact: Hashable, Sendable {
        package let at: Timestamp
        package let store: StoreEnvironment
        /// What was asked, as a stable word.
        package let endpoint: String
        /// The status of the answer; `nil` when there was none that can be used.
        package let status: Int?
    }

    private let last = Mutex<[BundleID: Contact]>([:])

    package init() {}

    package func note(_ event: AppStoreEvent, at now: Timestamp) {
        switch event {
        case .answered(let lane, let status, _): note(lane, status.rawValue, now)
        case .failed(let lane, _, _): note(lane, nil, now)
        default: break
        }
    }

    private func note(_ lane: AppleLane, _ status: Int?, _ now: Timestamp) {
        let contact = Contact(at: now, store: lane.store, endpoint: lane.endpoint, status: status)
        last.withLock { $0[lane.app] = contact }
    }

    /// `nil` when Apple was not asked since the start.
    package func last(of app: BundleID) -> Contact? { last.withLock { $0[app] } }
}
