import AppStore
package import Jobs
package import PurchaseModel
package import Storage

/// Has a window of time read once more from Apple: what was sent in it, how each subscription stands that was alive in it,
/// and what still waits for a decision. It writes jobs and moments; whoever works on jobs does the rest.
///
/// Doing it twice changes nothing: a job of the same window is one, and what Apple tells is recorded once.
package struct Reconciliation: Sendable {
    /// Subscriptions of one write: it holds up the next batch of purchases.
    static let batchMax = 200
    /// Customers that are remembered, so that each is asked about once.
    private static let seenMax = 1_000_000

    private let store: any Store
    private let queue: JobQueue
    private let clock: any WallClock

    package init(store: any Store, queue: JobQueue, clock: any WallClock) {
        self.store = store
        self.queue = queue
        self.clock = clock
    }

    /// What was written down to be done.
    package struct Plan: Hashable, Sendable {
        fileprivate var apps: Set<AppID> = []
        /// What the jobs are called that read.
        fileprivate var windows: [String] = []
        /// What is looked at, save what has been: see ``Reconciliation/isDone(_:)``.
        fileprivate var looks: [ChainKey] = []
        package private(set) var subscriptions = 0
        package fileprivate(set) var proofs = 0
        /// Questions about customers.
        package var customers = 0

        package init() {}

        package var readings: Int { windows.count }

        fileprivate mutating func add(looks chains: [ChainKey]) {
            looks += chains
            subscriptions += chains.count
        }

        /// Adds another app's part.
        package mutating func add(_ part: Plan) {
            apps.formUnion(part.apps)
            windows += part.windows
            looks += part.looks
            subscriptions += part.subscriptions
            proofs += part.proofs
            customers += part.customers
        }
    }

    /// Plans one app's part.
    ///
    /// - Parameters:
    ///   - account: how Apple is asked about the app.
    ///   - start: of the window.
    ///   - end: of it.
    /// - Returns: how much there is to do.
    /// - Throws: `StoreFailure`; what was planned until then stays planned.
    package func plan(
        _ account: AppleAccount,
        from start: Timestamp,
        until end: Timestamp
    ) async throws(StoreFailure) -> Plan {
        var plan = Plan()
        plan.apps = [account.app.id]
        for store in account.askableStores {
            plan.windows += try await planReadings(account.app.id, store, start, end)
        }
        plan.add(looks: try await planLooks(account.app.id, since: start))
        plan.proofs = try await planProofs(account.app.id)
        return plan
    }

    private func planReadings(
        _ app: AppID,
        _ environment: StoreEnvironment,
        _ start: Timestamp,
        _ end: Timestamp
    ) async throws(StoreFailure) -> [String] {
        let depth = NotificationComparer.depth(of: environment)
        var from = max(start, clock.now.advanced(by: .zero - depth))
        var jobs: [NotificationReading] = []
        while from < end {
            let next = min(from.advanced(by: NotificationReading.windowMax), end)
            jobs.append(NotificationReading(app: app, store: environment, from: from, until: next))
            from = next
        }
        let (planned, queue) = (jobs, queue)
        try await store.write { write throws(StoreFailure) in
            for job in planned { try queue.enqueue(job, in: write) }
        }
        return planned.compactMap(\.key)
    }

    /// Every subscription that was not over for good before the window is due now.
    private func planLooks(_ app: AppID, since start: Timestamp) async throws(StoreFailure) -> [ChainKey] {
        var planned: [ChainKey] = []
        var place: WalkPlace?
        repeat {
            let after = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.walkSubscriptions(app: app, after: after, limit: Self.batchMax)
            }
            let alive = page.rows.filter { $0.mayHaveChanged(since: start) }.map(\.chain)
            if !alive.isEmpty { planned += try await planLooks(alive) }
            place = page.next
        } while place != nil
        return planned
    }

    private func planLooks(_ chains: [ChainKey]) async throws(StoreFailure) -> [ChainKey] {
        let now = clock.now
        return try await store.write { write throws(StoreFailure) in
            let due = try write.subscriptions(chains).sorted { $0.chain.original < $1.chain.original }
            try write.apply(puttingOff(due, until: try write.storeTime(now)), evidence: nil)
            return due.map(\.chain)
        }
    }

    /// Each has its job; one that was lost is made again. It runs now, save what an import spread over time.
    private func planProofs(_ app: AppID) async throws(StoreFailure) -> Int {
        var count = 0
        var place: SubmissionCursor?
        repeat {
            let after = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.pendingSubmissions(app: app, after: after, limit: SubmissionPage.limitMax)
            }
            let queue = queue
            if !page.submissions.isEmpty {
                try await store.write { write throws(StoreFailure) in
                    for kept in page.submissions { try queue.plan(kept.submission, in: write) }
                }
            }
            count += page.submissions.count
            place = page.next
        } while place != nil
        return count
    }

    /// What Apple lists together: the purchases of one Apple account, of which a customer may have had several. Purchases
    /// that do not tell it are asked about once.
    private struct Listing: Hashable {
        let realm: Realm
        let customer: CustomerID
        let appTransaction: String?
    }

    /// Plans to read what Apple has on record of an app's customers, one question for each Apple account that they bought
    /// with, spread over time. Nobody can ask of a store that the app takes nothing of.
    ///
    /// - Parameters:
    ///   - subject: refunds, or all purchases.
    ///   - account: how Apple is asked about the app.
    ///   - start: of refunds, customers who bought something since then that is no subscription: those are looked at in any
    ///     case. Of history, everybody.
    ///   - spacing: between two questions.
    /// - Returns: how many questions.
    /// - Throws: `StoreFailure`; what was planned until then stays planned.
    package func planReadings(
        _ subject: CustomerReading.Subject,
        _ account: AppleAccount,
        boughtSince start: Timestamp,
        spacing: Duration
    ) async throws(StoreFailure) -> Int {
        let stores = Set(account.askableStores)
        if stores.isEmpty { return 0 }
        var (count, seen) = (0, Set<Listing>())
        var place: WalkPlace?
        let begin = clock.now
        repeat {
            let after = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.walkTransactions(app: account.app.id, after: after, limit: Self.batchMax)
            }
            var jobs: [(job: CustomerReading, due: Timestamp)] = []
            for recorded in page.rows.map(\.recorded) where recorded.realm.isTestSigned == account.isTest {
                guard let customer = recorded.customer, stores.contains(recorded.realm.environment) else { continue }
                let sold = recorded.transaction
                if subject == .refunds, sold.isSubscriptionPeriod || sold.purchasedAt < start { continue }
                // Beyond that some may be asked about twice, which does no harm.
                if seen.count >= Self.seenMax { seen = [] }
                let listing = Listing(
                    realm: recorded.realm,
                    customer: customer,
                    appTransaction: sold.appTransaction
                )
                guard seen.insert(listing).inserted else { continue }
                let due = begin.advanced(by: spacing * (count + jobs.count))
                jobs.append((CustomerReading(subject, of: recorded.key), due))
            }
            let (planned, queue) = (jobs, queue)
            if !planned.isEmpty {
                try await store.write { write throws(StoreFailure) in
                    for (job, due) in planned { try queue.enqueue(job, due: due, in: write) }
                }
            }
            count += planned.count
            place = page.next
        } while place != nil
        return count
    }

    /// How many of its windows hold notifications that could not be taken in, and are read again later: a setting is wrong, or a
    /// certificate of Apple's is not known here.
    package func untaken(of plan: Plan) async throws(StoreFailure) -> Int {
        try await store.read { reader throws(StoreFailure) in
            try reader.openJobs(kind: NotificationRetry.kind, keys: plan.windows).count
        }
    }

    /// Whether all of a plan is done: what it reads and looks at, what is due of its apps, proofs that customers wait for.
    ///
    /// What an import spread over time is not waited for, nor what is of apps that nobody configures any more.
    ///
    /// - Parameter plan: what was looked at is taken out of it, so that nothing is asked about twice.
    /// - Returns: false while a job of it waits or runs; one that was given up is over.
    /// - Throws: `StoreFailure`.
    package func isDone(_ plan: inout Plan) async throws(StoreFailure) -> Bool {
        let (now, apps, windows, asks) = (clock.now, plan.apps, plan.windows, plan.customers > 0)
        let isQuiet = try await store.read { reader throws(StoreFailure) in
            let moment = try reader.storeTime(now)
            for app in apps where try !reader.dueSubscriptions(of: app, at: moment, limit: 1).isEmpty { return false }
            let kinds: Set = [
                NotificationReading.kind, SubscriptionLook.kind, CustomerReading.kind, ProofDecision.kind,
            ]
            guard try !reader.hasDueJobs(kinds: kinds, at: now) else { return false }
            guard try reader.openJobs(kind: NotificationReading.kind, keys: windows).isEmpty else { return false }
            guard asks else { return true }
            // The pages after the first are jobs of their own.
            let left = try reader.jobBacklogs(at: now, countingTo: 1).filter { $0.kind == CustomerReading.kind }
            return left.allSatisfy { $0.counts.keys.allSatisfy { $0 == .dead } }
        }
        guard isQuiet else { return false }
        // None is due any more: each has its job, or had it.
        while !plan.looks.isEmpty {
            let chains = Array(plan.looks.suffix(Self.batchMax))
            let looks = chains.map { SubscriptionLook($0) }
            let open = try await store.read { reader throws(StoreFailure) in
                try reader.openJobs(kind: SubscriptionLook.kind, keys: looks.compactMap(\.key))
            }
            plan.looks.removeLast(chains.count)
            plan.looks += looks.filter { $0.key.map(open.contains) ?? false }.map(\.chain)
            guard open.isEmpty else { return false }
        }
        return true
    }
}

extension RecordedSubscription {
    /// Whether anything can have become of it since a moment that we may not know of.
    fileprivate func mayHaveChanged(since moment: Timestamp) -> Bool {
        guard nextLook == nil, let end = expiresAt else { return true }
        return max(end, graceEndsAt ?? end) >= moment
    }
}
