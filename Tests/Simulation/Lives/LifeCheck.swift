import Pipeline
import PurchaseModel
import Simulator
import Storage

/// Compares what the server says with the simulator's books.
struct LifeCheck {
    private let town: Town
    private let troubles: AppleTroubles
    private let isTold: Bool
    private let findings: Findings
    private(set) var compared = 0

    init(_ town: Town, _ troubles: AppleTroubles, isTold: Bool, _ findings: Findings) {
        self.town = town
        self.troubles = troubles
        self.isTold = isTold
        self.findings = findings
    }

    /// One comparison of everything.
    private struct Sight {
        let book: TruthBook
        let presented: Set<TransactionID>
        let now: Timestamp
        /// Everything that happened before must be known.
        let limit: Timestamp
        /// Of whom there is news on its way since when.
        let underWay: [String: Timestamp]
        let comment: String
    }

    /// What the server says of one subscription.
    private struct Standing: Sendable {
        let row: RecordedSubscription
        let period: Transaction?
    }

    mutating func compare(
        _ book: TruthBook,
        _ presented: Set<TransactionID>,
        at now: Timestamp,
        _ comment: String,
        isAtRest: Bool = false
    ) async throws {
        let limit = isAtRest && isTold ? now : KnowingTime(troubles, strays: town.calls.troubles).limit(at: now)
        let sight = Sight(
            book: book,
            presented: presented,
            now: now,
            limit: limit,
            underWay: underWay(),
            comment: comment
        )
        let standings = try await standings(sight)
        compareLines(standings, sight)
        if isTold {
            try await comparePurchases(sight)
            try await compareEntitlements(sight)
        }
        findings.expect(town.calls.refusals == 0, "what Apple sends is taken in", "\(town.calls.refusals) were not")
        let dead = try await town.deadLetters()
        findings.expect(dead.isEmpty, "no job is given up", dead.joined(separator: "; "))
    }

    /// Since when something is on its way to us that we could not know from anybody else.
    private func underWay() -> [String: Timestamp] {
        var since: [String: Timestamp] = [:]
        for message in town.sender.messages where message.nextAttemptAt != nil {
            guard case .purchase(let purchase) = message.notice.subject else { continue }
            let customer = purchase.transaction.customer
            let before = message.notice.at.advanced(by: .milliseconds(-1))
            since[customer] = min(since[customer] ?? before, before)
        }
        return since
    }

    private func realm(_ environment: StoreEnvironment) -> Realm {
        Realm(environment: environment, isTestSigned: true)
    }

    private func since(_ customer: String, _ sight: Sight) -> Timestamp {
        min(sight.limit, sight.underWay[customer] ?? sight.limit)
    }

    // MARK: Subscriptions

    private func standings(_ sight: Sight) async throws -> [TransactionID: Standing] {
        let chains = sight.book.lines.keys.sorted().compactMap { id in
            sight.book.environments[id].map { ChainKey(app: town.app.id, realm: realm($0), original: id) }
        }
        return try await town.store.read { reader throws(StoreFailure) in
            var standings: [TransactionID: Standing] = [:]
            for row in try reader.subscriptions(chains) {
                let period = try row.currentKey.flatMap { key throws(StoreFailure) in
                    try reader.transactions([key]).first?.transaction
                }
                standings[row.chain.original] = Standing(row: row, period: period)
            }
            return standings
        }
    }

    private mutating func compareLines(_ standings: [TransactionID: Standing], _ sight: Sight) {
        for (id, history) in sight.book.lines.sorted(by: { $0.key < $1.key }) {
            guard let customer = sight.book.customers[id], let since = since(id, standings[id], sight) else { continue }
            guard let expected = Possible(history, since: since) else { continue }
            let found = standings[id].flatMap {
                PurchaseModel.fold($0.row.chain, $0.period, $0.row.renewal, at: sight.now)
            }
            compared += 1
            if let complaint = expected.complaint(about: found, at: sight.now) {
                let known = found.map { "\($0.current.map { "\($0)" } ?? "none"), behind: \($0.isBehind)" } ?? "nothing"
                findings.note(
                    "subscriptions stand as Apple says",
                    "\(sight.comment) (\(sight.now)), \(customer)'s \(id): \(complaint); known: \(known), "
                        + "until \(found?.expiresAt.map { "\($0)" } ?? "no end"); true: \(expected.truths)"
                )
            }
        }
    }

    /// Since when what is said of a line may be of; nil when nobody can have heard of it.
    private func since(_ id: TransactionID, _ standing: Standing?, _ sight: Sight) -> Timestamp? {
        if isTold { return sight.book.customers[id].map { since($0, sight) } }
        guard sight.presented.contains(id), let standing else { return nil }
        let asked = askedAbout(sight.book.customers[id], sight)
        // What its app tells is as good as a look, as far as it goes.
        let last = max(asked ?? standing.row.lookedAt, standing.row.lookedAt)
        let then = PurchaseModel.fold(standing.row.chain, standing.period, standing.row.renewal, at: last)
        if let due = then.flatMap({ LookSchedule().next(after: last, of: $0) }), due < sight.limit {
            findings.note(
                "subscriptions are looked at in time",
                "\(sight.comment), \(id): looked at \(last), due at \(due), \(sight.now) is too late"
            )
        }
        // Before the first look there is what the app has sent.
        return asked ?? Timestamp(milliseconds: 0)
    }

    /// Whoever asks about one of a customer's subscriptions hears of all.
    private func askedAbout(_ customer: String?, _ sight: Sight) -> Timestamp? {
        sight.book.lines.keys.filter { sight.book.customers[$0] == customer }
            .compactMap { town.calls.askedAbout($0) }.max()
    }

    // MARK: Purchases

    private mutating func comparePurchases(_ sight: Sight) async throws {
        let keys = sight.book.purchases.keys.sorted().compactMap { id in
            sight.book.environments[id].map { TransactionKey(app: town.app.id, realm: realm($0), id: id) }
        }
        let found = try await town.store.read { reader throws(StoreFailure) in
            Dictionary(uniqueKeysWithValues: try reader.transactions(keys).map { ($0.id, $0) })
        }
        for (id, history) in sight.book.purchases.sorted(by: { $0.key < $1.key }) {
            guard let customer = sight.book.customers[id],
                let expected = Possible(history, since: since(customer, sight))
            else { continue }
            compared += 1
            if let complaint = expected.complaint(about: found[id]) {
                findings.note("transactions are as Apple says", "\(sight.comment), \(customer)'s \(id): \(complaint)")
            }
        }
    }

    // MARK: Entitlements

    private mutating func compareEntitlements(_ sight: Sight) async throws {
        let expected = expectedAccess(sight)
        for customer in Set(sight.book.customers.values).sorted() {
            let found = try await access(of: customer, at: sight.now)
            let wanted = expected[customer] ?? [:]
            for id in Set(found.keys).union(wanted.keys).sorted() {
                compared += 1
                let allowed = wanted[id] ?? PossibleAccess()
                guard !allowed.allows(found[id]) else { continue }
                let told = try await fulfilments(of: customer).map { row in
                    "\(row.transaction.id) of \(row.original), \(row.product), \(row.state) \(row.reason?.rawValue ?? "")"
                }
                findings.note(
                    "who has paid may use it, and nobody else",
                    "\(sight.comment), \(customer)'s \(id.text): \(found[id].map { "\($0)" } ?? "nothing"), not "
                        + "\(allowed.text); given: \(told.joined(separator: "; "))"
                )
            }
        }
    }

    private func access(of customer: String, at now: Timestamp) async throws -> [EntitlementID: Access] {
        let (app, id) = (town.app.id, CustomerID(checked: customer))
        let found = try await town.store.read { reader throws(StoreFailure) in
            let chains = try reader.chains(app: app, customer: id)
            return PurchaseModel.entitlements(
                try reader.fulfilments(chains),
                try reader.subscriptions(chains),
                at: now
            )
        }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.id, Access(until: $0.until)) })
    }

    private func fulfilments(of customer: String) async throws -> [Fulfilment] {
        let (app, id) = (town.app.id, CustomerID(checked: customer))
        return try await town.store.read { reader throws(StoreFailure) in
            try reader.fulfilments(try reader.chains(app: app, customer: id))
        }
    }

    private func expectedAccess(_ sight: Sight) -> [String: [EntitlementID: PossibleAccess]] {
        var expected: [String: [EntitlementID: PossibleAccess]] = [:]
        func add(_ customer: String, _ product: ProductID, _ access: [Access?]) {
            guard let id = Wares.entitlement(of: product) else { return }
            expected[customer, default: [:]][id, default: PossibleAccess()].add(access)
        }
        for (id, history) in sight.book.lines where sight.presented.contains(id) {
            guard let customer = sight.book.customers[id],
                let lines = Possible(history, since: since(customer, sight))
            else { continue }
            for product in Set(lines.truths.map(\.product)) {
                let access = lines.truths.map { line in
                    line.product == product ? line.accessUntil(at: sight.now).map { Access(until: $0) } : nil
                }
                add(customer, product, access + (lines.mayBeAbsent ? [nil] : []))
            }
        }
        for (id, history) in sight.book.purchases where sight.presented.contains(id) && sight.book.lines[id] == nil {
            guard let customer = sight.book.customers[id],
                let purchases = Possible(history, since: since(customer, sight))
            else { continue }
            let access = purchases.truths.map { purchase in
                Wares.accessUntil(purchase).flatMap { $0.lasts(after: sight.now) ? $0 : nil }
            }
            add(customer, purchases.truths[0].product, access + (purchases.mayBeAbsent ? [nil] : []))
        }
        return expected
    }
}

extension Access {
    /// To the second: receipts know no more.
    init(until end: Timestamp?) { self = end.map { .until(Timestamp(seconds: $0.wholeSeconds)) } ?? .forEver }
}
