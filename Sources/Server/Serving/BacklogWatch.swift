import PurchaseModel
import Storage

/// Counts every minute what waits in the ledger. Servers of one database count the same.
struct BacklogWatch: Sendable {
    let store: any Store
    let apps: [AppID]
    let clock: any WallClock
    let reporter: Reporter

    /// Counts now, and again after each pause, until there is no other pause.
    func run(_ pause: @Sendable () async -> Bool) async {
        repeat { reporter.show(await count(), apps: apps) } while await pause()
    }

    /// Each in a reading of its own: none of them holds a snapshot for long.
    private func count() async -> Backlog? {
        let now = clock.now
        do throws(StoreFailure) {
            var backlog = try await store.read { reader throws(StoreFailure) in
                Backlog(pending: try reader.pendingBacklogs(), now: try reader.storeTime(now))
            }
            backlog.jobs = try await store.read { reader throws(StoreFailure) in try reader.jobFigures() }
            for app in apps {
                backlog.endpoints += try await store.read { reader throws(StoreFailure) in
                    try Self.endpoints(of: app, reader)
                }
            }
            return backlog
        } catch {
            return nil
        }
    }

    private static func endpoints(
        of app: AppID,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [Backlog.Endpoint] {
        var endpoints: [Backlog.Endpoint] = []
        for endpoint in try reader.endpoints(app: app) {
            guard let figures = try reader.webhookFigures(endpoint.id) else { continue }
            endpoints.append(Backlog.Endpoint(app: app, id: endpoint.id, figures: figures))
        }
        return endpoints
    }
}
