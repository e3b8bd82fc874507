import PurchaseModel
import Storage

/// What waits in the ledger, part by part, each as it was at one moment; `nil` is what cannot be read.
struct Backlog: Sendable {
    struct Pending: Sendable {
        let apps: [PendingBacklog]
        /// When it was so, by the clock by which things are due.
        let now: Timestamp
    }

    struct Jobs: Sendable {
        let kinds: [JobBacklog]
        let now: Timestamp
    }

    struct Endpoints: Sendable {
        let figures: [WebhookEndpointID: WebhookFigures]
        /// Those that are disabled, and nobody wished it.
        let switchedOff: Set<WebhookEndpointID>
        let now: Timestamp
    }

    var pending: Pending?
    var jobs: Jobs?
    var endpoints: [AppID: Endpoints] = [:]
}

/// What waits, as figures.
extension Reporter {
    /// Shows what waits. Of a part that cannot be read nothing is said rather than what was so a while ago, but that it
    /// cannot be read.
    func show(_ backlog: Backlog, apps: [AppID]) {
        show(backlog.pending, apps)
        show(backlog.jobs)
        show(backlog.endpoints)
        let isReadable = [
            "pending": backlog.pending != nil, "jobs": backlog.jobs != nil,
            "webhooks": apps.allSatisfy { backlog.endpoints[$0] != nil },
        ]
        for (part, isKnown) in isReadable {
            metrics.set(.backlogReadable, [.init(name: "part", value: part)], to: isKnown ? 1 : 0)
        }
    }

    /// An app of which nothing waits has zeros: what is not there raises no alert, and ends none.
    private func show(_ pending: Backlog.Pending?, _ apps: [AppID]) {
        var (counts, ages): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        if let pending {
            for app in apps { (counts[Self.labels(app)], ages[Self.labels(app)]) = (0, 0) }
            for row in pending.apps {
                counts[Self.labels(row.app)] = Int64(row.submissions)
                ages[Self.labels(row.app)] = Self.seconds(from: row.oldest, to: pending.now)
            }
        }
        metrics.replace(.pending, with: counts)
        metrics.replace(.pendingOldest, with: ages)
    }

    private func show(_ jobs: Backlog.Jobs?) {
        var (counts, due): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        var ages: [[Metrics.Label]: Int64] = [:]
        if let jobs {
            for row in jobs.kinds {
                let kind = Metrics.Label(name: "kind", value: row.kind)
                for state in JobState.allCases {
                    counts[[kind, .init(name: "state", value: state.word)]] = Int64(row.counts[state] ?? 0)
                }
                due[[kind]] = Int64(row.due)
                ages[[kind]] = Self.seconds(from: row.oldestDue, to: jobs.now)
            }
        }
        metrics.replace(.jobsThere, with: counts)
        metrics.replace(.jobsDue, with: due)
        metrics.replace(.jobsOverdue, with: ages)
    }

    private func show(_ endpoints: [AppID: Backlog.Endpoints]) {
        var (counts, ages): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        var (dead, disabled): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        for (app, found) in endpoints {
            for (id, figures) in found.figures {
                let labels = Self.labels(app) + [.init(name: "endpoint", value: id.text)]
                counts[labels] = Int64(figures.backlog)
                ages[labels] = Self.seconds(from: figures.oldest, to: found.now)
                dead[labels] = Int64(figures.dead)
                disabled[labels] = found.switchedOff.contains(id) ? 1 : 0
            }
        }
        metrics.replace(.undelivered, with: counts)
        metrics.replace(.undeliveredOldest, with: ages)
        metrics.replace(.deadDeliveries, with: dead)
        metrics.replace(.disabledEndpoints, with: disabled)
    }

    private static func labels(_ app: AppID) -> [Metrics.Label] { [.init(name: "app", value: app.text)] }

    /// None for what is still to come, and where there is nothing.
    private static func seconds(from moment: Timestamp?, to now: Timestamp) -> Int64 {
        guard let moment, moment < now else { return 0 }
        return moment.duration(to: now).components.seconds
    }
}

extension JobState {
    /// Stable words of the metrics.
    fileprivate var word: String {
        switch self {
        case .pending: "pending"
        case .leased: "leased"
        case .suspect: "suspect"
        case .dead: "dead"
        }
    }
}
