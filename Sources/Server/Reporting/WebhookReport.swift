import Encoding
import Pipeline
import PurchaseModel
import Storage

/// What sending webhooks tells, as counts and lines. No URL: it may hold a secret of the shop's.
extension Reporter {
    func report(_ event: WebhookEvent) {
        switch event {
        case .attempted(_, let app, let verdict, _, _, _):
            let labels = [Metrics.Label(name: "app", value: app.text), .init(name: "result", value: verdict.word)]
            metrics.count(.webhookAttempts, labels)
        case .died(let endpoint, let event):
            metrics.count(.webhookDeaths, [.init(name: "endpoint", value: endpoint.text)])
            log.write(.warning, "webhook_given_up") { json in
                json.member("endpoint", endpoint.text)
                json.member("event", event.text)
            }
        case .disabled(let endpoint, let app, let reason):
            log.write(.error, "webhook_disabled") { json in
                json.member("endpoint", endpoint.text)
                json.member("app", app.text)
                json.member("reason", reason)
            }
        case .paused(let endpoint, let app):
            log.write(.warning, "webhook_paused") { json in
                json.member("endpoint", endpoint.text)
                json.member("app", app.text)
            }
        case .leaseLost(let endpoint, let event):
            log.write(.warning, "webhook_lease_lost") { json in
                json.member("endpoint", endpoint.text)
                json.member("event", event.text)
            }
        // Said once, as database_lost, and not at every look for what is due.
        case .storeFailed(.unreachable): break
        case .storeFailed(let failure):
            log.write(.error, "webhook_not_noted") { $0.member("failure", "\(failure)") }
        }
    }
}

extension WebhookVerdict {
    /// Stable words of the metrics.
    fileprivate var word: String {
        switch self {
        case .delivered: "delivered"
        case .gone: "gone"
        case .throttled: "throttled"
        case .failed: "failed"
        case .notTried: "not_tried"
        }
    }
}
