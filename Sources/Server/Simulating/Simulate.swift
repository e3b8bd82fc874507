import Crypto
import Encoding
import FoundationEssentials
import HTTP
import PurchaseModel
import Simulator

/// `assay simulate`: an App Store on a port, with a clock that moves when told.
struct Simulate {
    enum Fault: Error, CustomStringConvertible {
        case cannotWrite(String)
        case cannotRead(String)
        case cannotSign(CryptoError)
        case cannotListen(String, UInt16, HTTPListenerFailure)
        case badAuthority(SimulatorAuthority.LoadingError)
        case badMerchantKey(String)
        /// The folder's certificates are good only for some of the time that was asked for.
        case beyondCertificates(Timestamp, ClosedRange<Timestamp>)

        var description: String {
            switch self {
            case .cannotWrite(let path): "\(path) cannot be written"
            case .cannotRead(let path): "\(path) cannot be read"
            case .cannotSign(let error): "the simulated authority cannot sign: \(error)"
            case .cannotListen(let address, let port, let failure):
                "the simulator cannot listen on \(address), port \(port): \(failure.sentence)"
            case .badAuthority(.missing(let file)): "the folder's authority cannot be used: \(file) is missing"
            case .badAuthority(.unreadable(let file, _)), .badAuthority(.inconsistent(let file)):
                "the folder's authority cannot be used: \(file) is not what it was; delete the folder to begin anew"
            case .beyondCertificates(let start, let range):
                "the store's time would begin at \(Fault.text(start)), and what the folder's certificates sign holds from "
                    + "\(Fault.text(range.lowerBound)) to \(Fault.text(range.upperBound)); delete the folder to begin anew"
            case .badMerchantKey(let path): "\(path) is no private key; delete it, and another is made"
            }
        }

        private static func text(_ moment: Timestamp) -> String {
            RFC3339.text(milliseconds: moment.milliseconds) ?? "never"
        }
    }

    /// What the flags say.
    struct Options: Sendable {
        var folder = "simulator"
        var address = "127.0.0.1"
        var port: UInt16 = 8081
        var seed: UInt64 = 1
        /// Virtual seconds in a real one; 0 stands.
        var pace: Double = 1
        /// Where the store's time begins; now if absent.
        var start: Timestamp?
        var notificationsURL: String?
        /// So many customers who live by themselves, for a year before the start.
        var population = 0
        /// Whether the Server API has Apple's hourly limits.
        var limitsRates = false

        init() {}

        init(_ arguments: Arguments) throws(UsageFault) {
            folder = arguments.value("data") ?? folder
            if let text = arguments.value("listen") {
                guard let listen = ListenAddress(text) else { throw UsageFault("--listen is an address and a port") }
                (address, port) = (listen.address, listen.port)
            }
            notificationsURL = arguments.value("notify")
            if let url = notificationsURL, !EgressRule.canCall(url) {
                throw UsageFault("--notify is an http or https URL with a host, without user and fragment")
            }
            seed = UInt64(try Options.number("seed", 0...Int64.max, arguments) ?? 1)
            pace = Double(try Options.number("pace", 0...10_000_000, arguments) ?? 1)
            limitsRates = arguments.isSet("rate-limits")
            population = Int(try Options.number("population", 0...100_000, arguments) ?? 0)
            if let text = arguments.value("start") {
                start = RFC3339.milliseconds(text).map(Timestamp.init(milliseconds:))
                guard let start, StoreTime.range.contains(start) else {
                    throw UsageFault("--start is a moment such as 2026-01-01T00:00:00Z, from 2000 to 8999")
                }
            }
        }

        private static func number(
            _ name: String,
            _ range: ClosedRange<Int64>,
            _ arguments: Arguments
        ) throws(UsageFault) -> Int64? {
            guard let text = arguments.value(name) else { return nil }
            guard let number = Int64(text), range.contains(number), text.utf8.first != UInt8(ascii: "+") else {
                throw UsageFault("--\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    let options: Options

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter ready: called with the real port and the merchant's key once clients can connect.
    /// - Returns: the exit code.
    /// - Throws: ``Fault``.
    func run(ready: @Sendable (UInt16, MerchantKey) -> Void) async throws(Fault) -> Int32 {
        let clock = SystemClock()
        let folder = SimulatorFolder(options.folder)
        let authority = try folder.authority()
        let key = try folder.merchantKey()
        let store = try store(key, in: authority.moments, now: clock.now)
        let end = authority.moments.upperBound
        let simulator = AppStoreSimulator(store, authority: authority, wallClock: clock, end: end)
        if options.pace > 0 { simulator.setPace(.runs(factor: options.pace)) }
        let chaos = ChaosRun(simulator) { try? await Task.sleep(for: $0) }
        let calling = CurlCaller()
        let sender: NoticeSender
        let router: Router
        do throws(CryptoError) {
            sender = try NoticeSender(simulator, caller: calling.caller) { message, attempt in
                chaos.disturbance(of: message, attempt: attempt)
            }
            router = try self.router(simulator, chaos, sender)
        } catch {
            throw Fault.cannotSign(error)
        }
        let listener = try listener(handler(router, chaos))
        await beginTelling(sender, simulator)
        let signals = await StopSignals { listener.stop() }
        ready(listener.port, key)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await sender.run { (try? await Task.sleep(for: .milliseconds(50))) != nil }
            }
            await listener.run()
            group.cancelAll()
        }
        signals.cancel()
        return 0
    }

    private func listener(_ handler: HTTPHandler) throws(Fault) -> HTTPListener {
        var limits = HTTPLimits()
        // Who waits may wait for a notification, or for chaos; nothing is lost that would outlive the stop.
        limits.drain = .seconds(2)
        do throws(HTTPListenerFailure) {
            return try HTTPListener(
                address: options.address,
                port: options.port,
                limits: limits,
                lanes: ProcessInfo.processInfo.activeProcessorCount,
                handler: handler,
                report: { _ in }
            )
        } catch {
            throw .cannotListen(options.address, options.port, error)
        }
    }

    /// The store as it is at the beginning.
    private func store(
        _ key: MerchantKey,
        in moments: ClosedRange<Timestamp>,
        now: Timestamp
    ) throws(Fault) -> SimulatedStore {
        let start = options.start ?? now
        let first = options.population > 0 ? start.advanced(by: .seconds(-365 * 86_400)) : start
        for moment in [first, start] where !moments.contains(moment) {
            throw .beyondCertificates(moment, moments)
        }
        var store = SimulatedStore(startingAt: first, seed: options.seed)
        var app = DemoCatalogue.app()
        app.issuerID = key.issuerID
        app.apiKeys[key.id] = key.key.publicKey
        store.set(app)
        if options.population > 0 {
            var population = Population(
                in: store,
                app: app.bundleID,
                count: options.population,
                seed: options.seed
            )
            population.live(until: start)
            store = population.store
        }
        return store
    }

    /// Tells the merchant's server what happens from here on, and not what was before.
    private func beginTelling(_ sender: NoticeSender, _ simulator: AppStoreSimulator) async {
        guard let url = options.notificationsURL else { return }
        // What is taken while there is no address goes nowhere.
        await sender.deliverDue()
        simulator.change { store in
            guard var app = store.apps[DemoCatalogue.bundleID] else { return }
            app.productionNotifications = NotificationTarget(url: url)
            app.sandboxNotifications = NotificationTarget(url: url)
            store.set(app)
        }
    }

    private func router(
        _ simulator: AppStoreSimulator,
        _ chaos: ChaosRun,
        _ sender: NoticeSender
    ) throws(CryptoError) -> Router {
        let sent = sender.sentNotices
        let control = ControlAPI(simulator) { await sender.deliverDue() }
        var api = ServerAPI.Options()
        api.limitsRates = options.limitsRates
        return Router(
            control.routes() + (try ProofEndpoints(simulator).routes())
                + SettingEndpoints(simulator, chaos: chaos, sent: sent).routes()
                + VerifyReceiptEndpoint(simulator).routes + (try ServerAPI(simulator, sent: sent, options: api).routes)
        )
    }

    /// Chaos falls upon Apple's endpoints only: whoever controls it must still be able to.
    private func handler(_ router: Router, _ chaos: ChaosRun) -> HTTPHandler {
        let disturbed = chaos.disturbing(router.handler)
        return HTTPHandler { request in
            let isControl = request.path.utf8.starts(with: "/simulator/".utf8)
            return await (isControl ? router.handler : disturbed).respond(request)
        }
    }

    /// What to try, in commands that can be pasted.
    static func greeting(_ address: String, _ port: UInt16, _ key: MerchantKey, folder: String) -> String {
        let base = "http://\(address):\(port)"
        return """

            An App Store of your own is open on \(base). Its roots are in \(folder)/roots; whoever trusts them accepts
            what it signs. In another terminal:

              assay simulate customer anna
              assay simulate buy anna pro.monthly
              assay simulate clock advance P31D
              assay simulate refund anna

            Apple's endpoints: \(base)/production and \(base)/sandbox, each with /verifyReceipt and /inApps/…
            The Server API lets in issuer \(key.issuerID) with key \(key.id), which is in \(key.path).
            The control API is described in docs/simulator.md. Ctrl-C stops it; the store forgets everything then.

            """
    }
}
