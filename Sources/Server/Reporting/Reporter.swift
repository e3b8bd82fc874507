import API
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Verification

/// Turns the events of every target into counts, and the few that somebody should read into lines.
struct Reporter: Sendable {
    let log: Log
    let metrics: Metrics

    func report(_ event: PipelineEvent) {
        switch event {
        case .recorded(let app, let format, let transactions, let isRepetition):
            count(isRepetition ? "already_recorded" : "recorded", app, format)
            metrics.count(.transactions, [.init(name: "app", value: app.text)], by: transactions)
        case .nothingToRecord(let app, let format):
            count("nothing_to_record", app, format)
        case .pending(let app, let format, let reason, let isRepetition):
            count("pending", app, format)
            // Once for each: whoever asks again and again must not fill the log.
            if isRepetition { break }
            log.write(.info, "pending") { json in
                json.member("app", app.text)
                json.member("format", format.rawValue)
                json.member("reason", reason.rawValue)
            }
        case .gaveUp(let app, let submissions):
            let labels = [Metrics.Label(name: "app", value: app.text), .init(name: "result", value: "given_up")]
            metrics.count(.submissions, labels, by: submissions)
            log.write(.warning, "gave_up") { json in
                json.member("app", app.text)
                json.member("submissions", submissions)
            }
        case .refused(let app, let format, let reason, _, let isRepetition):
            count("refused", app, format)
            metrics.count(
                .refusals,
                [
                    .init(name: "app", value: app.text), .init(name: "reason", value: reason.rawValue),
                    .init(name: "verdict", value: reason.verdict.rawValue),
                    .init(name: "repeated", value: isRepetition ? "true" : "false"),
                ]
            )
        case .settled, .notified, .compared: reportWork(event)
        case .clockSetBack(let lead, let hastened):
            log.write(.warning, "clock_set_back") { json in
                json.member("seconds", lead.components.seconds)
                json.member("hastened", hastened)
            }
        case .committed(_, let duration):
            metrics.count(.commits, [.init(name: "result", value: "committed")])
            metrics.observe(.commit, duration)
        case .commitFailed(let submissions, .conflict):
            // Somebody was faster, as with a notification that comes twice at once. What is not known by then is decided again, or
            // answered by 503: no trouble of the ledger's.
            metrics.count(.commits, [.init(name: "result", value: "conflict")])
            log.write(.info, "commit_conflict") { $0.member("submissions", submissions) }
        case .commitFailed(let submissions, let failure):
            metrics.count(.commits, [.init(name: "result", value: "failed")])
            log.write(.error, "commit_failed") { json in
                json.member("submissions", submissions)
                json.member("failure", "\(failure)")
            }
        }
    }

    func report(_ event: HTTPEvent) {
        switch event {
        case .accepted:
            metrics.count(.connections, [])
        case .served(_, let status, _, let duration):
            metrics.count(.requests, [.init(name: "status", value: status.description)])
            metrics.observe(.request, duration)
        case .streamed(_, let status, let end, _, _):
            metrics.count(
                .streams,
                [.init(name: "status", value: status.description), .init(name: "end", value: end.rawValue)]
            )
        case .unanswered(_, let status):
            metrics.count(
                .requests,
                [.init(name: "status", value: status.description), .init(name: "unanswered", value: "true")]
            )
        case .refused(let refusal, _):
            metrics.count(.refusedRequests, [.init(name: "code", value: refusal.rawValue)])
        case .unsendable(let request):
            log.write(.error, "unsendable_answer") { json in
                json.member("method", request.method.rawValue)
                json.member("request", String(request.id))
            }
        case .exhausted(let errno):
            log.write(.warning, "descriptors_exhausted") { $0.member("errno", Int(errno)) }
        }
    }

    /// An answer that says that the fault is ours, by the names under which the client and what is in between know it.
    func report(_ failed: FailedRequest) {
        log.write(.warning, "request_failed") { json in
            json.member("request_id", failed.name.request)
            json.member("trace_id", failed.name.trace)
            json.member("method", failed.method.rawValue)
            json.member("route", failed.template)
            json.member("status", failed.status.rawValue)
        }
    }

    /// A database that is lost, and one that is back: one line each, however many ask it meanwhile.
    func report(_ event: DatabaseEvent) {
        switch event {
        case .lost(let words):
            log.write(.error, "database_lost") { json in
                // The client library's sentences have lines of their own.
                json.member("why", words.split(whereSeparator: \.isWhitespace).joined(separator: " "))
            }
        case .back: log.write(.info, "database_back")
        }
    }

    /// How much room the ledger's disk has.
    func show(isFull: Bool, free: Int?) {
        metrics.set(.storageFull, [], to: isFull ? 1 : 0)
        if let free { metrics.set(.freeBytes, [], to: Int64(free)) }
    }

    /// The ledger's disk has no room any more, or has some again.
    func report(isFull: Bool) {
        log.write(isFull ? .error : .info, isFull ? "storage_full" : "storage_has_room") { _ in }
    }

    /// What is new could not be read for those who follow the events; they wait on.
    func reportUnreadFeed(_ failure: StoreFailure) {
        if failure == .unreachable { return }
        log.write(.error, "feed_not_read") { $0.member("failure", "\(failure)") }
    }

    private func count(_ result: String, _ app: AppID, _ format: ProofFormat) {
        metrics.count(
            .submissions,
            [
                .init(name: "app", value: app.text), .init(name: "format", value: format.rawValue),
                .init(name: "result", value: result),
            ]
        )
    }
}
