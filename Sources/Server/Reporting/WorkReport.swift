import AppStore
import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Verification

/// What work in the background tells, as counts and lines.
extension Reporter {
    func report(_ event: JobEvent) {
        switch event {
        case .claimed: break
        case .finished(let kind, _, _, _): count(kind, "finished")
        case .failed(let kind, _, _, _): count(kind, "again")
        case .abandoned(let kind, let id, let attempt, let reason):
            count(kind, "abandoned")
            log.write(.error, "job_abandoned") { json in
                json.member("kind", kind)
                json.member("job", id.text)
                json.member("attempt", attempt)
                json.member("reason", reason)
            }
        case .lost(let kind, _): count(kind, "lost")
        case .released(let kind, _): count(kind, "released")
        // Said once, as database_lost, and not at every look for jobs.
        case .storeFailed(.unreachable): break
        case .storeFailed(let failure): log.write(.error, "jobs_not_noted") { $0.member("failure", "\(failure)") }
        }
    }

    func report(_ event: AppStoreEvent) {
        switch event {
        case .answered(let lane, let status, _): count(lane, "\(status)")
        case .failed(let lane, let failure, _):
            count(lane, failure.word)
            if case .unreachable(.proxy) = failure {
                log.write(.warning, "apple_proxy_failed") { $0.member("endpoint", lane.endpoint) }
            }
        case .heldBack(let lane, _): count(lane, "held_back")
        case .throttled(let lane, _): count(lane, "throttled")
        case .resting(let lane, _):
            count(lane, "resting")
            log.write(.warning, "apple_resting") { $0.member("endpoint", lane.endpoint) }
        case .recovered(let lane): log.write(.info, "apple_recovered") { $0.member("endpoint", lane.endpoint) }
        case .clockSkew(let skew):
            log.write(.warning, "clock_skew") { $0.member("seconds", skew.components.seconds) }
        case .disagreement(let lane, let status):
            count(lane, "disagreement")
            log.write(.error, "apple_disagrees") { $0.member("status", status) }
        case .untrusted(let lane, let reason):
            count(lane, "untrusted")
            log.write(.error, "apple_untrusted") { $0.member("reason", reason.rawValue) }
        }
    }

    /// What came of asking Apple, and of what Apple sent.
    func reportWork(_ event: PipelineEvent) {
        switch event {
        case .settled(let app, let reason):
            let labels = [Metrics.Label(name: "app", value: app.text), .init(name: "result", value: "settled")]
            metrics.count(.submissions, labels)
            log.write(.info, "settled") { json in
                json.member("app", app.text)
                json.member("reason", reason.rawValue)
            }
        case .notified(let app, let type, let subtype, let arrival, let isRepetition):
            metrics.count(
                .notifications,
                [
                    .init(name: "app", value: app.text), .init(name: "type", value: type),
                    .init(name: "subtype", value: subtype ?? ""),
                    .init(name: "arrival", value: arrival == .pushed ? "pushed" : "fetched"),
                    .init(name: "repeated", value: isRepetition ? "true" : "false"),
                ]
            )
        case .compared(let app, let sent, let recovered):
            let labels = [Metrics.Label(name: "app", value: app.text)]
            metrics.count(.comparedNotifications, labels, by: Int(sent))
            metrics.count(.recoveredNotifications, labels, by: Int(recovered))
            if recovered > 0 {
                log.write(.warning, "notifications_recovered") { json in
                    json.member("app", app.text)
                    json.member("sent", sent)
                    json.member("recovered", recovered)
                }
            }
        default: break
        }
    }

    private func count(_ kind: String, _ result: String) {
        metrics.count(.jobs, [.init(name: "kind", value: kind), .init(name: "result", value: result)])
    }

    private func count(_ lane: AppleLane, _ result: String) {
        metrics.count(
            .apple,
            [
                .init(name: "bundle_id", value: lane.app.text), .init(name: "store", value: lane.store.rawValue),
                .init(name: "endpoint", value: lane.endpoint), .init(name: "result", value: result),
            ]
        )
    }
}

extension AppStoreFailure {
    /// Stable words of the metrics.
    fileprivate var word: String {
        switch self {
        case .unreachable(.proxy): "proxy_failed"
        case .unreachable: "unreachable"
        case .unreadable: "unreadable"
        case .unavailable: "unavailable"
        case .troubled(let status): "troubled_\(status)"
        case .throttled: "throttled"
        case .resting: "resting"
        case .unauthorized: "unauthorized"
        case .refused(let code): "refused_\(code.rawValue)"
        case .unexpected(let status): "unexpected_\(status)"
        case .untrusted: "untrusted"
        case .notConfigured: "not_configured"
        case .invalidRequest: "invalid_request"
        }
    }
}
