import AppStore
import HTTP
import PurchaseModel
import Synchronization

/// What was asked of Apple, and which of it failed.
final class CallCount: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var troubles: [Timestamp] = []
        var statuses: [TransactionID: Timestamp] = [:]
        var refusals = 0
    }

    private let state = Mutex(State())

    /// By endpoint, each request that was sent, whatever came of it.
    var counts: [String: Int] { state.withLock { $0.counts } }
    /// When requests failed, in order.
    var troubles: [Timestamp] { state.withLock { $0.troubles } }
    /// Apple's notifications that were not taken in.
    var refusals: Int { state.withLock { $0.refusals } }

    /// When Apple last said how a subscription stands.
    func askedAbout(_ original: TransactionID) -> Timestamp? { state.withLock { $0.statuses[original] } }

    func noteRefusal() { state.withLock { $0.refusals += 1 } }

    func note(_ event: AppStoreEvent, at now: Timestamp) {
        switch event {
        case .answered(let lane, _, _): state.withLock { $0.counts[lane.endpoint, default: 0] += 1 }
        case .failed(let lane, let failure, _):
            state.withLock { state in
                state.counts[lane.endpoint, default: 0] += 1
                // A word of Apple's about what was asked is an answer.
                if case .refused(let code) = failure, failure.remedy != .retry, code.rawValue < 4_290_000 { return }
                state.troubles.append(now)
            }
        default: break
        }
    }

    /// Remembers a whole answer about a subscription.
    func note(_ call: HTTPCall, _ response: HTTPResponse, at now: Timestamp) {
        guard response.status == .ok, response.body.first == UInt8(ascii: "{"),
            response.body.last == UInt8(ascii: "}")
        else { return }
        let parts = call.url.split(whereSeparator: { $0 == "/" || $0 == "?" })
        guard let place = parts.firstIndex(of: "subscriptions"), place + 1 < parts.count,
            let id = TransactionID(String(parts[place + 1]))
        else { return }
        state.withLock { $0.statuses[id] = now }
    }
}
