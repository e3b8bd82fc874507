import Pipeline
import PurchaseModel
import Storage

/// Counts every minute what waits in the ledger. Servers of one database count the same.
struct BacklogWatch: Sendable {
    /// How far jobs of one kind and state, and deliveries of one endpoint, are counted. After an import, millions of jobs
    /// wait for their day: a look costs the same, and whoever reads the figure knows enough.
    static let countedMax = 10_000

    let store: any Store
    let apps: [AppID]
    let clock: any WallClock
    let reporter: Reporter

    /// Counts now, and again after each pause, until there is no other pause.
    func run(_ pause: @Sendable () async -> Bool) async {
        repeat { reporter.show(await count(), apps: apps) } while await pause()
    }

    /// Each in a reading of its own: none of them holds a snapshot for long, and one that fails takes no other with it.
    private func count() async -> Backlog {
        let now = clock.now
        var backlog = Backlog()
        backlog.pending = await part { reader throws(StoreFailure) in
            Backlog.Pending(apps: try reader.pendingBacklogs(), now: try reader.storeTime(now))
        }
        backlog.jobs = await part { reader throws(StoreFailure) in
            Backlog.Jobs(
                kinds: try reader.jobBacklogs(at: now, countingTo: Self.countedMax),
                now: try reader.storeTime(now)
            )
        }
        for app in apps {
            backlog.endpoints[app] = await part { reader throws(StoreFailure) in
                try Self.endpoints(of: app, at: now, reader)
            }
        }
        return backlog
    }

    /// `nil` when it cannot be read.
    private func part<Part: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Part
    ) async -> Part? {
        do throws(StoreFailure) { return try await store.read(body) } catch { return nil }
    }

    private static func endpoints(
        of app: AppID,
        at now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Backlog.Endpoints {
        let endpoints = try reader.endpoints(app: app)
        var figures: [WebhookEndpointID: WebhookFigures] = [:]
        for endpoint in endpoints {
            figures[endpoint.id] = try reader.webhookFigures(endpoint.id, countingTo: countedMax)
        }
        return Backlog.Endpoints(
            figures: figures,
            switchedOff: Set(endpoints.filter(\.wasSwitchedOff).map(\.id)),
            now: try reader.storeTime(now)
        )
    }
}
