import PurchaseModel
import Storage

/// What waits in the ledger, at one moment.
struct Backlog: Sendable {
    /// An endpoint, and how it is doing.
    struct Endpoint: Sendable {
        let app: AppID
        let id: WebhookEndpointID
        let figures: WebhookFigures
    }

    var pending: [PendingBacklog] = []
    var jobs: [JobFigures] = []
    var endpoints: [Endpoint] = []
    /// When it was so, by the clock by which things are due.
    var now: Timestamp
}

/// What waits, as figures.
extension Reporter {
    /// Shows what waits; `nil` when nobody can tell: then nothing is said rather than what was so a while ago.
    func show(_ backlog: Backlog?, apps: [AppID]) {
        show(pending: backlog, apps)
        show(jobs: backlog)
        show(endpoints: backlog)
    }

    /// An app of which nothing waits has zeros: what is not there raises no alert, and ends none.
    private func show(pending backlog: Backlog?, _ apps: [AppID]) {
        var (counts, ages): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        if let backlog {
            for app in apps { (counts[Self.labels(app)], ages[Self.labels(app)]) = (0, 0) }
            for row in backlog.pending {
                counts[Self.labels(row.app)] = Int64(row.submissions)
                ages[Self.labels(row.app)] = backlog.seconds(since: row.oldest)
            }
        }
        metrics.replace(.pending, with: counts)
        metrics.replace(.pendingOldest, with: ages)
    }

    private func show(jobs backlog: Backlog?) {
        var (counts, ages): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        for row in backlog?.jobs ?? [] {
            let kind = Metrics.Label(name: "kind", value: row.kind)
            for state in JobState.allCases {
                counts[[kind, .init(name: "state", value: state.word)]] = Int64(row.counts[state] ?? 0)
            }
            ages[[kind]] = row.oldestDue.flatMap { backlog?.seconds(since: $0) } ?? 0
        }
        metrics.replace(.jobsThere, with: counts)
        metrics.replace(.jobsOverdue, with: ages)
    }

    private func show(endpoints backlog: Backlog?) {
        var (counts, ages): ([[Metrics.Label]: Int64], [[Metrics.Label]: Int64]) = ([:], [:])
        var dead: [[Metrics.Label]: Int64] = [:]
        for row in backlog?.endpoints ?? [] {
            let labels = Self.labels(row.app) + [.init(name: "endpoint", value: row.id.text)]
            counts[labels] = Int64(row.figures.backlog)
            ages[labels] = row.figures.oldest.flatMap { backlog?.seconds(since: $0) } ?? 0
            dead[labels] = Int64(row.figures.dead)
        }
        metrics.replace(.undelivered, with: counts)
        metrics.replace(.undeliveredOldest, with: ages)
        metrics.replace(.deadDeliveries, with: dead)
    }

    private static func labels(_ app: AppID) -> [Metrics.Label] { [.init(name: "app", value: app.text)] }
}

extension Backlog {
    /// None for what is still to come.
    fileprivate func seconds(since moment: Timestamp) -> Int64 {
        moment < now ? moment.duration(to: now).components.seconds : 0
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
