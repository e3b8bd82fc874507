import API
import AppStore
import Crypto
import Dashboard
import Encoding
import FoundationEssentials
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Verification

/// `assay serve`: the composition root. Every part is made here, once.
struct Serve {
    /// How long a stop waits for messages under way.
    private static let patience = Duration.seconds(5)

    let settings: ServeSettings
    /// The App Store simulator beside it, for its page on the dashboard: only a demo has one.
    var simulator: SimulatorLine?

    /// Serves until SIGTERM or SIGINT, and then until everybody is answered.
    ///
    /// - Parameter ready: called with the real port once clients can connect, and with the dashboard's path: that of the
    ///   first account while there is none.
    /// - Returns: the exit code: 2 when it could not start.
    func run(ready: @Sendable (UInt16, String) -> Void = { _, _ in }) async -> Int32 {
        let clock = SystemClock()
        let metrics = Metrics()
        let log = Log(clock: clock) { metrics.count(.droppedLines, []) }
        defer { log.finish() }
        let reporter = Reporter(log: log, metrics: metrics)
        do {
            let anchors = try CertificateFolder.anchors(roots: settings.roots, certificates: settings.certificates)
            let store = try await place.openToWrite { reporter.report($0) }
            let house = try House(settings, anchors, store, clock, reporter)
            let earlier = EarlierLedger(settings: settings, place: place, verifier: house.verifier)
            for app in try await earlier.look(into: store) {
                log.write(.warning, "app_not_configured") { json in
                    json.member("app", app.text)
                    json.member("why", "The ledger has purchases of it, which nobody follows meanwhile.")
                }
            }
            let dashboard = await DashboardSide(settings, house, store, clock, simulator)
            let listener = try HTTPListener(
                address: settings.address,
                port: settings.port,
                limits: settings.http,
                lanes: ProcessInfo.processInfo.activeProcessorCount,
                handler: routes(house.parts)
                    .adding(dashboard.routes) { dashboardRefusal($0, of: $1) }.handler,
                report: { reporter.report($0) }
            )
            if let path = dashboard.firstAccount {
                log.write(.info, "first_account") { json in
                    json.member("path", path)
                    json.member("why", "There is no account of the dashboard yet; this makes one, once.")
                }
            }
            await run(house, listener, store, log) { ready($0, dashboard.firstAccount ?? "/dashboard") }
            return 0
        } catch {
            log.write(.error, "not_started") { $0.member("why", sentence(error)) }
            return UsageFault.exitCode
        }
    }

    private func run(
        _ house: House,
        _ listener: HTTPListener,
        _ store: any Store,
        _ log: Log,
        _ ready: @Sendable (UInt16) -> Void
    ) async {
        // Before anybody is let in; should the store fail, those with a key of the configuration are.
        await house.keys.read()
        let signals = await StopSignals {
            listener.stop()
            // No job is begun any more, while everybody is answered: what is due now, another server takes.
            house.work.stop()
        }
        log.write(.info, "listening") { json in
            json.member("address", settings.address)
            json.member("port", Int(listener.port))
            json.member("ledger", place.shown)
            json.member("version", Version.text)
        }
        ready(listener.port)
        await withDiscardingTaskGroup { group in
            keepHouse(house, in: &group)
            let (sent, sending) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                // A commit wakes it; what becomes due by itself waits no longer than this.
                await house.sender.run { (try? await Task.sleep(for: .milliseconds(500))) != nil }
                sending.finish()
            }
            let (worked, working) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                await house.work.run()
                working.finish()
            }
            await listener.run()
            // Everybody is answered. What is under way to a shop comes to its end, unless that takes too long: then it is
            // sent again later. So with what Apple is asked; the workers cut off what takes too long, and let others have it.
            house.sender.stop()
            house.work.stop()
            group.addTask {
                try? await Task.sleep(for: Serve.patience)
                sending.finish()
                try? await Task.sleep(for: BackgroundWork.patience)
                working.finish()
            }
            for await _ in sent {}
            for await _ in worked {}
            // What a client did not wait for is still written, and what Apple has said just now. What was being looked at
            // again is looked at again at the next start.
            house.recorder.stop()
            group.cancelAll()
        }
        signals.cancel()
        await house.certificates.writeNew()
        await house.keys.writeUses()
        await store.close()
        log.write(.info, "stopped")
    }

    /// What goes on beside the answering, until it is cancelled or stopped.
    private func keepHouse(_ house: House, in group: inout DiscardingTaskGroup) {
        group.addTask { await house.recorder.run() }
        group.addTask {
            // What can be decided by now is not given up.
            await house.pending.run()
            // Nobody waits to the minute for what was to wait for days.
            await house.expiry.run { (try? await Task.sleep(for: .seconds(3_600))) != nil }
        }
        // An order is told to have expired within the minute.
        group.addTask {
            await house.housekeeping.run(uptime: house.uptime) { (try? await Task.sleep(for: .seconds(60))) != nil }
        }
        group.addTask { await house.keys.run { (try? await Task.sleep(for: .seconds(5))) != nil } }
        // A proxy asks as often, or less.
        group.addTask { await house.watches.room.run { (try? await Task.sleep(for: .seconds(5))) != nil } }
        group.addTask { await house.watches.backlog.run { (try? await Task.sleep(for: .seconds(60))) != nil } }
        group.addTask { await house.certificates.run { (try? await Task.sleep(for: .seconds(10))) != nil } }
        // What this server commits is seen at once; what others commit to the same database, within this.
        group.addTask { await house.feed.run { (try? await Task.sleep(for: .seconds(1))) != nil } }
    }

    private var place: LedgerPlace { LedgerPlace(settings.database, folder: settings.data) }

    private func sentence(_ error: any Error) -> String {
        switch error {
        case let failure as StoreOpenFailure: failure.sentence
        case let failure as StoreFailure: failure.sentence
        case let fault as EarlierLedger.Fault: fault.sentence
        case let fault as AppleSide.Fault: fault.sentence
        case let failure as HTTPListenerFailure:
            "cannot listen on \(settings.address), port \(settings.port): \(failure.sentence)"
        default: "\(error)"
        }
    }
}
