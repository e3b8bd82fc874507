import PurchaseModel
import Storage
import TestSupport
import Testing

/// Figures over time, in every store alike.
@Suite struct FigureTests {
    /// What is sold, shown again, refunded, upgraded and given back, in batches of which some fail, comes to the sums of
    /// what is recorded in the end.
    @Test(arguments: StoreKind.allCases, UInt64(0)..<12)
    func theyAreTheSumsOfTheRows(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { store in
            var random = SeededRandom(seed: seed)
            for step in 0..<30 {
                let recordings = try (0...2).map { _ in try Self.recording(&random) }
                let fails = Int.random(in: 0...4, using: &random) == 0
                let evidence = try Samples.evidence([UInt8(step)], customer: nil)
                try await Self.record(recordings, evidence, in: store, fails: fails)
            }
            let app = try Samples.app("game")
            let kept = try await store.read { reader throws(StoreFailure) in try Self.kept(of: app, reader) }
            let counted = try await store.read { reader throws(StoreFailure) in try Self.counted(app, reader) }
            #expect(kept == counted)
            #expect(!kept.isEmpty)
        }
    }

    /// What only went out is money, too.
    @Test func theOverviewNamesEveryCurrency() {
        var summary = FigureSummary()
        summary.revenue = ["USD": 5]
        (summary.refunded, summary.upgradeCredit, summary.recurring) = (["CHF": 1], ["GBP": 2], ["EUR": 3])
        #expect(summary.currencies == ["USD", "CHF", "EUR", "GBP"])
    }

    /// A batch that is turned back leaves nothing. (In the test itself the compiler of Swift 6.3 does not come to an end.)
    private static func record(
        _ recordings: [Recording],
        _ evidence: EvidenceRow,
        in store: any Store,
        fails: Bool
    ) async throws {
        do throws(StoreFailure) {
            try await store.write { write throws(StoreFailure) in
                var situation = try write.situation(around: recordings)
                for recording in recordings {
                    let decision = decide(situation, recording, at: Samples.now)
                    situation.apply(decision)
                    try write.apply(decision, evidence: evidence)
                }
                if fails { throw .busy }
            }
        } catch {
            guard fails, error == .busy else { throw error }
        }
    }

    /// Several writers of one subscription, each of whom sees a part of it: a period, or what Apple says of the end of one.
    @Test(arguments: StoreKind.allCases)
    func nobodyCountsWhatAnotherHasChanged(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var random = SeededRandom(seed: 7)
            let app = try Samples.app("game")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(1)...24 {
                    let recording =
                        try number % 2 == 0
                        ? Self.recording([try Self.month(10 + number / 2, first: 11)])
                        : Self.recording([], [try Self.renewal(of: 11 + number / 2, &random)])
                    let evidence = try Samples.evidence([UInt8(number)], customer: nil)
                    group.addTask {
                        try await store.write { write throws(StoreFailure) in
                            let situation = try write.situation(around: [recording])
                            try write.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let kept = try await store.read { reader throws(StoreFailure) in try Self.kept(of: app, reader) }
            let counted = try await store.read { reader throws(StoreFailure) in try Self.counted(app, reader) }
            #expect(kept == counted)
            #expect(kept.values.keys.contains { $0.measure == .renewalsFailed })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theyAreKeptApartByWhatIsAsked(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app("game")
            let other = try Samples.app("zoo")
            let lamp = try #require(ProductID("lamp"))
            let oil = try #require(ProductID("oil"))
            var sums = FigureSums()
            Self.add(10, 1, lamp, "USA", "USD", app, to: &sums)
            Self.add(20, 1, lamp, "DEU", "EUR", app, to: &sums)
            Self.add(40, 1, oil, "USA", "USD", app, to: &sums)
            Self.add(80, 2, lamp, "USA", "USD", app, to: &sums)
            Self.add(160, -3, oil, "", "USD", app, to: &sums)
            Self.add(-160, 9, oil, "", "USD", app, to: &sums)
            let added = sums
            for number in Int64(0)..<2 {
                try await store.write { write throws(StoreFailure) in
                    #expect(try write.correctFigures(of: app, by: added, after: number))
                    let seen: [FigureRow] = try write.figures(Self.question(app, 1...1))
                    #expect(seen.count == 2)
                }
            }
            let questions = [
                Self.question(app, -9...9), Self.question(app, 1...2, by: [.day, .product]),
                Self.question(app, 1...2, by: [.storefront]), Self.question(other, -9...9),
                Self.question(app, 3...8),
            ]
            var found: [[FigureRow]] = []
            for question in questions {
                found.append(
                    try await store.read { reader throws(StoreFailure) in try reader.figures(question) }
                )
            }
            // What comes to nothing over the days is none.
            let all: [FigureRow] = [FigureRow(currency: "EUR", amount: 40), FigureRow(currency: "USD", amount: 260)]
            #expect(found[0] == all)
            let first = DayOfTime(number: 1)
            let second = DayOfTime(number: 2)
            let apart: [FigureRow] = [
                FigureRow(day: first, product: lamp, currency: "EUR", amount: 40),
                FigureRow(day: first, product: lamp, currency: "USD", amount: 20),
                FigureRow(day: first, product: oil, currency: "USD", amount: 80),
                FigureRow(day: second, product: lamp, currency: "USD", amount: 160),
            ]
            #expect(found[1] == apart)
            #expect(found[2].map(\.storefront) == ["DEU", "USA"])
            #expect(found[2].map(\.amount) == [40, 260])
            #expect(found[3].isEmpty && found[4].isEmpty)
        }
    }

    /// Of several recounts of one snapshot one is added, whoever comes first; the next counts on from it.
    @Test(arguments: StoreKind.allCases)
    func whatIsMissingIsAddedOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (app, other) = (try Samples.app("game"), try Samples.app("zoo"))
            let lamp = try #require(ProductID("lamp"))
            var sums = FigureSums()
            Self.add(10, 1, lamp, "USA", "USD", app, to: &sums)
            let added = sums
            let written = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await store.write { write throws(StoreFailure) in
                            try write.correctFigures(of: app, by: added, after: 0)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(written.count(where: \.self) == 1)
            let seen = try await store.read { reader throws(StoreFailure) in
                let sums = try reader.figures(Self.question(app, 1...1)).map(\.amount)
                return [sums, [try reader.figureCorrections(app: app), try reader.figureCorrections(app: other)]]
            }
            #expect(seen == [[10], [1, 0]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func refusalsAreCountedByTheDay(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app("game")
            let counts: [(hour: Int64, reason: String, count: Int)] = [
                (0, "b", 1), (23, "b", 2), (24, "b", 4), (24, "a", 8), (47, "a", 16),
            ]
            let found = try await store.write { write throws(StoreFailure) -> [[RefusalDay]] in
                for each in counts {
                    let key = RefusalKey(hour: HourOfTime(number: each.hour), app: app, reason: each.reason)
                    try write.addRefusals(counts: [key: each.count], samples: [])
                    let nobodys = RefusalKey(hour: key.hour, app: nil, reason: each.reason)
                    try write.addRefusals(counts: [nobodys: 100], samples: [])
                }
                return [
                    try write.refusals(app: app, since: DayOfTime(number: -5)),
                    try write.refusals(app: app, since: DayOfTime(number: 1)),
                ]
            }
            let second = [
                RefusalDay(day: DayOfTime(number: 1), reason: "a", count: 24),
                RefusalDay(day: DayOfTime(number: 1), reason: "b", count: 4),
            ]
            let first = RefusalDay(day: DayOfTime(number: 0), reason: "b", count: 3)
            #expect(found[0] == [first] + second)
            #expect(found[1] == second)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func subscriptionsAreListedByTheirState(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app("game")
            for number in Int64(1)...5 {
                let recording = try Self.recording([try Self.month(number, first: number)])
                let evidence = try Samples.evidence([UInt8(number)], customer: nil)
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(around: [recording])
                    try write.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
                }
            }
            let pages = try await store.read { reader throws(StoreFailure) -> [SubscriptionPage] in
                func page(_ state: SubscriptionState, _ after: Int64?) throws(StoreFailure) -> SubscriptionPage {
                    try reader.subscriptions(
                        app: app,
                        realm: Samples.production,
                        state: state,
                        after: after.flatMap { TransactionID(number: $0) },
                        limit: 3
                    )
                }
                return [try page(.active, nil), try page(.active, 3), try page(.expired, nil)]
            }
            #expect(pages[0].subscriptions.map(\.chain.original.number) == [1, 2, 3] && pages[0].next?.number == 3)
            #expect(pages[1].subscriptions.map(\.chain.original.number) == [4, 5] && pages[1].next == nil)
            #expect(pages[2].subscriptions.isEmpty && pages[2].next == nil)
        }
    }

    // MARK: Counting

    /// On one side of the wall, and one on none.
    private static func add(
        _ amount: Int64,
        _ day: Int64,
        _ product: ProductID,
        _ storefront: String,
        _ currency: String,
        _ app: AppID,
        to sums: inout FigureSums
    ) {
        var key = FigureKey(
            app: app,
            realm: Samples.production,
            measure: .revenue,
            day: DayOfTime(number: day),
            product: product,
            storefront: storefront,
            currency: currency
        )
        sums.add(amount, to: key)
        key.realm = nil
        sums.add(1, to: key)
    }

    private static func question(
        _ app: AppID,
        _ days: ClosedRange<Int64>,
        by dimensions: Set<FigureQuestion.Dimension> = []
    ) -> FigureQuestion {
        FigureQuestion(
            app: app,
            realm: Samples.production,
            measure: .revenue,
            days: DayOfTime(number: days.lowerBound)...DayOfTime(number: days.upperBound),
            by: dimensions
        )
    }

    /// Save for what is counted of events, which nobody writes here.
    private static func kept(of app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> FigureSums {
        let told: Set<Measure> = [.graceStarted, .retryStarted, .recovered, .lapsed]
        var sums = FigureSums()
        var place: WalkPlace?
        repeat {
            let page = try reader.walkFigures(app: app, after: place, limit: 7)
            for figure in page.rows where !told.contains(figure.key.measure) { sums.add(figure.amount, to: figure.key) }
            place = page.next
        } while place != nil
        return sums
    }

    /// By chains as they stand in the transactions, which here never change theirs.
    private static func counted(_ app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> FigureSums {
        var sums = FigureSums()
        let all = try reader.walkTransactions(app: app, after: nil, limit: 500).rows.map(\.recorded)
        for (chain, rows) in Dictionary(grouping: all, by: \.chain) {
            let subscription = try reader.subscriptions([chain]).first
            sums.add(chain.figures(rows.map(\.transaction), subscription?.ends ?? PeriodEnds()))
            for fulfilment in try reader.fulfilments([chain]) { sums.add(fulfilment.figures) }
            if let subscription { sums.add(subscription.figures) }
        }
        return sums
    }

    // MARK: What is sold

    private static func recording(
        _ transactions: [Transaction],
        _ renewals: [Renewal] = [],
        customer: String? = nil
    ) throws -> Recording {
        Recording(
            app: try Samples.app("game"),
            realm: Samples.production,
            transactions: transactions,
            renewals: renewals,
            customer: try customer.map { try Samples.customer($0) }
        )
    }

    private static func recording(_ random: inout SeededRandom) throws -> Recording {
        let sold = try (0...1).map { _ in
            var sold =
                try Bool.random(using: &random)
                ? Samples.transaction(.random(in: 1...9, using: &random))
                : month(.random(in: 11...16, using: &random), first: 11)
            sold.price = Price(milliunits: sold.id.number * 100, currency: "USD")
            sold.storefront = "USA"
            // Whose it is may be known later.
            sold.ownership = [.purchased, .familyShared, nil].randomElement(using: &random) ?? nil
            sold.signedAt = Samples.now.advanced(by: .seconds(.random(in: 0...100, using: &random)))
            switch Int.random(in: 0...5, using: &random) {
            case 0: sold.revocation = Revocation(at: sold.signedAt)
            case 1: sold.revocation = Revocation(at: sold.signedAt, percentage: 30_000)
            case 2: sold.isUpgraded = sold.expiresAt != nil
            default: break
            }
            return sold
        }
        let renewals = try (0...1).map { _ in try renewal(of: .random(in: 11...16, using: &random), &random) }
        let isProof = Bool.random(using: &random)
        return try recording(
            isProof ? sold : [],
            isProof && Bool.random(using: &random) ? [] : renewals,
            customer: Bool.random(using: &random) ? "ann" : nil
        )
    }

    /// What Apple says of the end of a month: it could not charge, or it is over, or all is well.
    private static func renewal(of number: Int64, _ random: inout SeededRandom) throws -> Renewal {
        let month = try month(number, first: 11)
        let original = try #require(month.originalID)
        let end = try #require(month.expiresAt)
        let signedAt = end.advanced(by: .seconds(.random(in: 0...60 * 86_400, using: &random)))
        var renewal = Renewal(originalID: original, product: month.product, signedAt: signedAt)
        renewal.renewsAt = end
        renewal.nextPrice = Price(milliunits: number * 100, currency: "USD")
        switch Int.random(in: 0...3, using: &random) {
        case 0: renewal.isInBillingRetry = true
        case 1: (renewal.isInBillingRetry, renewal.graceEndsAt) = (true, end.advanced(by: .seconds(16 * 86_400)))
        case 2: renewal.expirationIntent = Int.random(in: 1...2, using: &random)
        default: renewal.willAutoRenew = true
        }
        return renewal
    }

    private static func month(_ number: Int64, first: Int64) throws -> Transaction {
        var sold = try Samples.transaction(number)
        sold.originalID = TransactionID(number: first)
        sold.product = try #require(ProductID("monthly"))
        sold.kind = .autoRenewable
        sold.purchasedAt = Samples.now.advanced(by: .seconds((number - first) * 30 * 86_400))
        sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(30 * 86_400))
        return sold
    }
}
