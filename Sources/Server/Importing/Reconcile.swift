import AppStore
import Encoding
import Jobs
import Pipeline
import PurchaseModel
import Storage

/// `assay reconcile`: reads from Apple once more what the ledger may have lost.
struct Reconcile: Sendable {
    /// Longer than anybody watches a command.
    private static let patienceMax = 100_000
    /// Between two looks at whether all is done.
    private static let pause = Duration.seconds(2)

    let settings: ServeSettings
    let place: LedgerPlace
    let since: Timestamp
    let until: Timestamp
    let app: AppID?
    /// Customers who bought since then are asked about.
    let refundsSince: Timestamp?
    let readsHistory: Bool
    let patience: Duration
    let isJSON: Bool

    init(_ configuration: Configuration, _ arguments: Arguments, at now: Timestamp) throws(UsageFault) {
        settings = ServeSettings(configuration)
        place = LedgerPlace(configuration)
        guard let since = try Self.moment("since", arguments) else {
            throw UsageFault("--since is needed: where the window begins", hint: "--since 2026-01-05T03:00:00Z")
        }
        self.since = since
        until = try Self.moment("until", arguments) ?? now
        guard since < until else { throw UsageFault("the window ends before it begins") }
        if let name = arguments.value("app") {
            guard let app = settings.apps.first(where: { $0.id.text == name }) else {
                throw UsageFault.unknownApp(name, "the configuration has no app", among: settings.apps.map(\.id))
            }
            self.app = app.id
        } else {
            app = nil
        }
        refundsSince = try Self.days(arguments).map { now.advanced(by: .seconds(-86_400 * $0)) }
        readsHistory = arguments.isSet("history")
        let minutes = arguments.value("patience").map { Int($0) ?? 0 } ?? 60
        guard (1...Self.patienceMax).contains(minutes) else {
            throw UsageFault("--patience is a number of minutes from 1 to \(Self.patienceMax)")
        }
        patience = .seconds(60 * minutes)
        isJSON = arguments.isSet("json")
    }

    private static func moment(_ flag: String, _ arguments: Arguments) throws(UsageFault) -> Timestamp? {
        guard let text = arguments.value(flag) else { return nil }
        guard let milliseconds = RFC3339.milliseconds(text) else {
            throw UsageFault("--\(flag) is a moment such as 2026-01-05T03:00:00Z")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    private static func days(_ arguments: Arguments) throws(UsageFault) -> Int? {
        guard let text = arguments.value("refunds") else { return nil }
        guard let days = Int(text), (1...3_650).contains(days) else {
            throw UsageFault("--refunds is a number of days from 1 to 3650")
        }
        return days
    }

    /// - Returns: 0 when all was read, 1 when something is left, 2 when it could not be done.
    func run() async -> Int32 {
        do {
            // There is a ledger, and an older schema is brought up to date by migrate, knowingly.
            await (try place.openToRead()).close()
            let store = try await place.openToWrite()
            do {
                let code = try await run(over: store)
                await store.close()
                return code
            } catch {
                await store.close()
                throw error
            }
        } catch {
            Console.error("assay reconcile: \(ReportText.printable(ImportCommand.sentence(error, place)))")
            return 2
        }
    }

    private static let untakenAdvice = "check apple_id, certificates and keys; servers read them again, ever later"

    /// What the ledger holds.
    private struct Holdings: Sendable {
        var transactions: Int
        var pending: Int
    }

    private func run(over store: any Store) async throws -> Int32 {
        let clock = SystemClock()
        let log = Log(clock: clock)
        defer { log.finish() }
        let anchors = try CertificateFolder.anchors(roots: settings.roots, certificates: settings.certificates)
        let house = try House(settings, anchors, store, clock, Reporter(log: log, metrics: Metrics()))
        let accounts = house.work.accounts.values.filter { app == nil || $0.app.id == app }
        guard !accounts.isEmpty else { throw Fault(description: "there is nothing to ask Apple with") }
        let reconciliation = Reconciliation(store: store, queue: house.work.queue, clock: clock)
        let before = try await Self.holdings(of: store)
        var plan = Reconciliation.Plan()
        for account in accounts.sorted(by: { $0.app.id < $1.app.id }) {
            plan.add(try await reconciliation.plan(account, from: since, until: until))
            plan.customers += try await planCustomers(reconciliation, account)
        }
        let isDone = try await work(house, reconciliation, plan)
        let untaken = try await reconciliation.untaken(of: plan)
        let after = try await Self.holdings(of: store)
        show(plan, before, after, isDone: isDone, untaken)
        return isDone && untaken == 0 ? 0 : 1
    }

    private func planCustomers(_ reconciliation: Reconciliation, _ account: AppleAccount) async throws -> Int {
        var count = 0
        if let refundsSince {
            count += try await reconciliation.planReadings(
                .refunds,
                account,
                boughtSince: refundsSince,
                spacing: settings.spacing(of: .refunds)
            )
        }
        guard readsHistory else { return count }
        return count
            + (try await reconciliation.planReadings(
                .history,
                account,
                boughtSince: since,
                spacing: settings.spacing(of: .history)
            ))
    }

    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private static func holdings(of store: any Store) async throws(StoreFailure) -> Holdings {
        let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
        return Holdings(transactions: figures.transactions, pending: figures.pendingSubmissions)
    }

    /// Works on jobs until those of the plan are done, or patience ends. What Apple would be told of customers is left to
    /// servers: it stands there as at the copy.
    private func work(
        _ house: House,
        _ reconciliation: Reconciliation,
        _ plan: Reconciliation.Plan
    ) async throws -> Bool {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        let jobs = house.work.leaving(Reconciliation.leftToServers)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await house.recorder.run() }
            group.addTask { await jobs.run() }
            defer {
                jobs.stop()
                house.recorder.stop()
            }
            var left = plan
            while start.duration(to: clock.now) < patience {
                if try await reconciliation.isDone(&left) { return true }
                try await Task.sleep(for: Self.pause)
            }
            return false
        }
    }

    private func show(
        _ plan: Reconciliation.Plan,
        _ before: Holdings,
        _ after: Holdings,
        isDone: Bool,
        _ untaken: Int
    ) {
        let new = after.transactions - before.transactions
        if isJSON {
            let line = JSONWriter.object { json in
                json.member("is_done", isDone)
                json.member("windows", plan.readings)
                json.member("untaken_windows", untaken)
                json.member("subscriptions", plan.subscriptions)
                json.member("proofs", plan.proofs)
                json.member("customers", plan.customers)
                json.member("new_transactions", new)
                json.member("pending_before", before.pending)
                json.member("pending", after.pending)
            }
            Console.write(ReportJSON.showable(line) + [0x0A])
            return
        }
        Console.write(
            """
            \(ReportText.printable(place.shown)): \(isDone ? "done" : "not done, servers of this ledger go on")
              \(plan.readings) windows of notifications, \(plan.subscriptions) subscriptions, \(plan.proofs) proofs that wait,
              \(plan.customers) customers
              \(new) transactions are new, \(before.pending) proofs waited, \(after.pending) wait

            """
        )
        guard untaken > 0 else { return }
        Console.write(
            """
              In \(untaken) windows notifications could not be taken in: \(Self.untakenAdvice)

            """
        )
    }
}
