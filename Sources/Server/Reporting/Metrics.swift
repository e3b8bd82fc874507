import Synchronization

/// What is counted, and its text for Prometheus (text format 0.0.4).
///
/// The labels are few and their values are ours: app ids of the configuration, stable words, status codes.
final class Metrics: Sendable {
    /// A family of series: its name, kind and help stand here once.
    struct Family: Hashable, Sendable {
        let name: String
        let help: String

        static let submissions = Family(
            name: "assay_submissions_total",
            help: "Proofs of purchase by what became of them."
        )
        static let refusals = Family(name: "assay_refusals_total", help: "Refused proofs by reason.")
        static let transactions = Family(
            name: "assay_transactions_total",
            help: "Transactions in recorded proofs, known ones among them."
        )
        static let notifications = Family(
            name: "assay_notifications_total",
            help: "Apple's notifications by type, how they came, and whether they were known."
        )
        static let comparedNotifications = Family(
            name: "assay_notifications_compared_total",
            help: "Notifications that Apple says to have sent."
        )
        static let recoveredNotifications = Family(
            name: "assay_notifications_recovered_total",
            help: "Those among them that had not arrived, and were fetched."
        )
        static let jobs = Family(name: "assay_jobs_total", help: "Runs of jobs by kind and how they ended.")
        static let apple = Family(name: "assay_apple_requests_total", help: "Requests to Apple by what came of them.")
        static let commits = Family(
            name: "assay_commits_total",
            help: "Commits to the ledger by result; after a conflict what was not known by then is decided again."
        )
        static let requests = Family(name: "assay_http_requests_total", help: "Answered requests by status.")
        static let streams = Family(name: "assay_http_streams_total", help: "Streams that are over, by why.")
        static let refusedRequests = Family(
            name: "assay_http_refused_total",
            help: "Requests that the listener answered by itself, by code."
        )
        static let webhookAttempts = Family(
            name: "assay_webhook_attempts_total",
            help: "Requests to shops by what was answered."
        )
        static let webhookDeaths = Family(
            name: "assay_webhook_dead_total",
            help: "Deliveries that were given up; each can be replayed."
        )
        static let droppedLines = Family(
            name: "assay_log_lines_dropped_total",
            help: "Lines that were not written because nobody read the log."
        )
        static let connections = Family(name: "assay_http_connections_total", help: "Accepted connections.")
        static let storageFull = Family(
            name: "assay_storage_full",
            help: "1 while the ledger's disk has no room, and nothing is recorded."
        )
        static let freeBytes = Family(
            name: "assay_ledger_free_bytes",
            help: "What is free where the ledger's folder lies."
        )
        static let pending = Family(
            name: "assay_pending_submissions",
            help: "Proofs that wait for a decision; imports' are not among them."
        )
        static let pendingOldest = Family(
            name: "assay_pending_oldest_seconds",
            help: "For how long the oldest of them has waited."
        )
        static let jobsThere = Family(
            name: "assay_jobs",
            help: "Jobs by how far they are, counted to \(BacklogWatch.countedMax); dead ones were given up."
        )
        static let jobsDue = Family(
            name: "assay_jobs_due",
            help: "Jobs that are due and that nobody has taken, counted to \(BacklogWatch.countedMax)."
        )
        static let jobsOverdue = Family(
            name: "assay_jobs_overdue_seconds",
            help: "For how long a job has been due that nobody has taken."
        )
        static let undelivered = Family(
            name: "assay_webhook_undelivered",
            help: "Events that an endpoint is still to be sent, counted to \(BacklogWatch.countedMax)."
        )
        static let undeliveredOldest = Family(
            name: "assay_webhook_oldest_seconds",
            help: "How long ago the oldest of them happened."
        )
        static let deadDeliveries = Family(
            name: "assay_webhook_dead_letters",
            help: """
                Deliveries of an endpoint that were given up and not made since, counted to \(BacklogWatch.countedMax).
                """
        )
        static let disabledEndpoints = Family(
            name: "assay_webhook_disabled",
            help: "1 while an endpoint is switched off, which nobody wished: it misses what happens."
        )
        static let backlogReadable = Family(
            name: "assay_backlog_readable",
            help: "1 while that part of what waits can be counted, 0 while its figures are not known."
        )
        static let certificateEnds = Family(
            name: "assay_certificate_not_after_seconds",
            help: "When a certificate that is trusted, or that proofs came with, ends, in UNIX time."
        )
    }

    /// All that there can be, also what nothing was counted of yet: the names that alerts and pictures may use.
    static var names: [String] {
        let families: [Family] = [
            .submissions, .refusals, .transactions, .notifications, .comparedNotifications, .recoveredNotifications,
            .jobs,
            .apple, .commits, .requests, .streams, .refusedRequests, .webhookAttempts, .webhookDeaths, .droppedLines,
            .connections, .certificateEnds, .storageFull, .freeBytes, .pending, .pendingOldest, .jobsThere,
            .jobsDue, .jobsOverdue, .undelivered, .undeliveredOldest, .deadDeliveries, .disabledEndpoints,
            .backlogReadable,
        ]
        let timings = [Timing.commit, .request].flatMap { timing in
            ["bucket", "sum", "count"].map { "\(timing.name)_\($0)" }
        }
        return ["assay_build_info"] + families.map(\.name) + timings + ProcessFigures.names
    }

    /// A family of durations.
    struct Timing: Hashable, Sendable {
        let name: String
        let help: String

        static let commit = Timing(name: "assay_commit_seconds", help: "Duration of a commit, whole batches.")
        static let request = Timing(name: "assay_http_request_seconds", help: "From a request's end to its answer.")
    }

    private struct Series: Hashable {
        let family: Family
        let labels: [Label]
    }

    struct Label: Hashable, Sendable {
        let name: String
        let value: String
    }

    private struct State {
        var counters: [Series: Int] = [:]
        var gauges: [Series: Int64] = [:]
        var timings: [Timing: Histogram] = [.commit: Histogram(), .request: Histogram()]
    }

    private let state = Mutex(State())

    func count(_ family: Family, _ labels: [Label], by amount: Int = 1) {
        state.withLock { $0.counters[Series(family: family, labels: labels), default: 0] += amount }
    }

    /// What does not only grow.
    func set(_ family: Family, _ labels: [Label], to value: Int64) {
        state.withLock { $0.gauges[Series(family: family, labels: labels)] = value }
    }

    /// Sets all there is of a family: a series that is not among these is gone.
    func replace(_ family: Family, with values: [[Label]: Int64]) {
        state.withLock { state in
            state.gauges = state.gauges.filter { $0.key.family != family }
            for (labels, value) in values { state.gauges[Series(family: family, labels: labels)] = value }
        }
    }

    func observe(_ timing: Timing, _ duration: Duration) {
        state.withLock { $0.timings[timing, default: Histogram()].observe(duration) }
    }

    /// All series, sorted, so that two scrapes can be compared line by line.
    func text() -> String {
        let (counters, gauges, timings) = state.withLock { ($0.counters, $0.gauges, $0.timings) }
        var text = "# HELP assay_build_info The running version.\n# TYPE assay_build_info gauge\n"
        text += "assay_build_info{version=\"\(Version.text)\"} 1\n"
        text += Metrics.text(counters.mapValues(Int64.init), kind: "counter")
        text += Metrics.text(gauges, kind: "gauge")
        for (timing, histogram) in timings.sorted(by: { $0.key.name < $1.key.name }) {
            text += Metrics.text(timing, histogram)
        }
        return text + ProcessFigures.text()
    }

    private static func text(_ values: [Series: Int64], kind: String) -> String {
        var text = ""
        for (family, series) in Dictionary(grouping: values.keys, by: \.family).sorted(by: { $0.key.name < $1.key.name }
        ) {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(kind)\n"
            text += series.map { "\(family.name)\(Metrics.text($0.labels)) \(values[$0] ?? 0)\n" }.sorted().joined()
        }
        return text
    }

    private static func text(_ timing: Timing, _ histogram: Histogram) -> String {
        var text = "# HELP \(timing.name) \(timing.help)\n# TYPE \(timing.name) histogram\n"
        var below = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            below += count
            text += "\(timing.name)_bucket{le=\"\(bound)\"} \(below)\n"
        }
        text += "\(timing.name)_bucket{le=\"+Inf\"} \(histogram.total)\n"
        return text + "\(timing.name)_sum \(histogram.sum)\n\(timing.name)_count \(histogram.total)\n"
    }

    private static func text(_ labels: [Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    /// A label's value may hold anything: backslash, quotation mark and line feed are escaped, scalar by scalar.
    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\", "\"": text.append(contentsOf: ["\\", scalar])
            case "\n": text.append(contentsOf: ["\\", "n"])
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}
