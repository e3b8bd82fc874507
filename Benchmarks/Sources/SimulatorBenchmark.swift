import HTTP
import PurchaseModel
import Simulator

/// How fast a whole simulated store lives, and tells of it.
struct SimulatorBenchmark {
    let authority: SimulatorAuthority

    private static let subscribers = 1_000
    private static let start = Samples.moment

    /// A thousand people live for two years; then all that Apple tells of it is signed and delivered to a server that does
    /// nothing.
    func run() async throws -> Section {
        var store = SimulatedStore(startingAt: Self.start, seed: 1)
        store.set(DemoCatalogue.app())
        var population = Population(in: store, app: DemoCatalogue.bundleID, count: Self.subscribers, seed: 1)
        let living = CPUTime.ofProcess
        let days: Int64 = 730
        population.live(until: Self.start.advanced(by: .seconds(days * 86_400)))
        let lived = Double(CPUTime.ofProcess - living) / 1e9
        let told = population.store.notices.count

        let (notices, delivered) = try await deliver(to: population.store)
        return Section(
            "A store of \(Self.subscribers) customers: \(population.store.transactions.count) transactions, \(told) notices",
            columns: ["count", "CPU s", "per CPU s"],
            rows: [
                Section.Row(name: "virtual days", values: [Double(days), lived, Double(days) / lived]),
                Section.Row(
                    name: "notifications signed and delivered in this process",
                    values: [Double(notices), delivered, Double(notices) / delivered]
                ),
            ],
            goal: "years in seconds; what a load test asks of its other side"
        )
    }

    private func deliver(to store: SimulatedStore) async throws -> (count: Int, seconds: Double) {
        var listened = store
        var app = DemoCatalogue.app()
        app.productionNotifications = NotificationTarget(url: "http://127.0.0.1/apple")
        app.sandboxNotifications = app.productionNotifications
        listened.set(app)
        let clock = ManualClock(listened.now)
        let simulator = AppStoreSimulator(listened, authority: authority, wallClock: clock)
        let sender = try NoticeSender(simulator, caller: HTTPCaller(handler: HTTPHandler { _ in HTTPResponse(.ok) }))
        let began = CPUTime.ofProcess
        await sender.deliverDue()
        return (listened.notices.count, Double(CPUTime.ofProcess - began) / 1e9)
    }
}
