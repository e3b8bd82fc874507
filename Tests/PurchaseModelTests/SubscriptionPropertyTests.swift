import PurchaseModel
import TestSupport
import Testing

/// What holds for any facts about a subscription, in any order. A red seed is a name to run again.
@Suite struct SubscriptionPropertyTests {
    private struct Proof {
        var transactions: [Transaction]
        var renewals: [Renewal]
    }

    @Test(arguments: UInt64(0)..<300)
    func anyOrderAndRepetitionEndsInTheSameSubscription(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let proofs = try (0..<Int.random(in: 1...8, using: &random)).map { _ in try Self.proof(&random) }
        let moment = SubscriptionCase.at(Double.random(in: 0...200, using: &random))
        let expected = try Self.outcome(of: proofs, lookedAt: moment)
        for _ in 0..<6 {
            let again = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
                proofs.randomElement(using: &random)
            }
            let found = try Self.outcome(of: (proofs + again).shuffled(using: &random), lookedAt: moment)
            #expect(found == expected)
        }
        // Nor does it matter how they are spread over proofs.
        let single = proofs.flatMap { proof in
            proof.transactions.map { Proof(transactions: [$0], renewals: []) }
                + proof.renewals.map { Proof(transactions: [], renewals: [$0]) }
        }
        #expect(try Self.outcome(of: single.shuffled(using: &random), lookedAt: moment) == expected)
        // It is the fold of all facts at once.
        var ledger = Ledger()
        for proof in proofs { ledger.record(try Facts.recording(proof.transactions)) }
        let renewal = proofs.flatMap(\.renewals).reduce(nil) { fold($0, $1) }
        var ends = PeriodEnds()
        for renewal in proofs.flatMap(\.renewals) { ends.note(renewal) }
        let pure = fold(try Shop.chain(1), newestPeriod(ledger.rows.values)?.transaction, renewal, ends, at: moment)
        #expect(pure == expected.view)
    }

    /// Whoever cancels while Apple tries to charge is told of twice at one moment.
    @Test func ofTwoWordsAtOneMomentTheEndCounts() throws {
        let moment = SubscriptionCase.at(33)
        var failing = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: moment
        )
        (failing.isInBillingRetry, failing.expirationIntent, failing.graceEndsAt) = (true, 2, SubscriptionCase.at(46))
        var ended = failing
        (ended.isInBillingRetry, ended.expirationIntent) = (false, 1)
        #expect(fold(failing, ended) == ended && fold(ended, failing) == ended)
    }

    @Test(arguments: UInt64(0)..<100)
    func whatIsKnownIsWrittenOnceAndToldOnce(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var shop = try Shop()
        for _ in 0..<8 {
            let proof = try Self.proof(&random)
            try Self.show(proof, in: &shop)
            let events = shop.events
            let row = shop.situation.subscription(of: try Shop.chain(1))
            shop.now = shop.now.advanced(by: .seconds(Int64.random(in: 0...40, using: &random) * 86_400))
            try Self.show(proof, in: &shop)
            #expect(shop.situation.subscription(of: try Shop.chain(1)) == row)
            #expect(shop.events == events)
            try shop.look()
            let told = shop.events
            #expect(try shop.look().isEmpty)
            #expect(shop.events == told)
            try Invariants.check(shop, "seed \(seed)")
        }
    }

    /// Whoever looks when a look is due, and not once more, is told of every end, and is done after a bounded number.
    /// Whoever takes one in hand puts the next one off first.
    @Test(arguments: UInt64(0)..<100, [false, true])
    func looksEnd(seed: UInt64, isPutOff: Bool) throws {
        var random = SeededRandom(seed: seed)
        var shop = try Shop()
        for _ in 0..<Int.random(in: 1...5, using: &random) { try Self.show(try Self.proof(&random), in: &shop) }
        let chain = try Shop.chain(1)
        var looks = 0
        while let next = shop.situation.subscription(of: chain)?.nextLook {
            // What became of a period before the newest one is asked at once.
            #expect(next > shop.now || looks == 0)
            shop.now = max(next, shop.now)
            if isPutOff {
                let inHand = shop.now.advanced(by: .seconds(2 * 86_400))
                shop.apply(puttingOff([try #require(shop.situation.subscription(of: chain))], until: inHand))
            }
            let told = try shop.look()
            // When it was put off to the very moment there is nothing to write.
            #expect(isPutOff || !told.isEmpty)
            #expect(told.events.count <= 1)
            looks += 1
            try #require(looks < 60)
        }
        #expect(shop.situation.subscription(of: chain)?.state.isAlive != true)
    }

    private struct Outcome: Equatable {
        var view: Subscription?
        var row: [String]
    }

    /// Whichever of them is heard of first.
    @Test func ofWordsSignedAtOneMomentOneCounts() throws {
        let product = try Shop.product("monthly")
        let plain = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: product,
            signedAt: SubscriptionCase.at(30)
        )
        var (ended, later, begun, endedAnew) = (plain, plain, plain, plain)
        (ended.willAutoRenew, ended.isInBillingRetry, ended.expirationIntent) = (false, false, 1)
        ended.recentStartAt = SubscriptionCase.at(0)
        later.signedAt = later.signedAt.advanced(by: .milliseconds(1))
        begun.recentStartAt = SubscriptionCase.at(30)
        (endedAnew.expirationIntent, endedAnew.recentStartAt) = (2, begun.recentStartAt)
        for (less, more) in [(ended, later), (ended, begun), (begun, endedAnew), (plain, ended), (plain, begun)] {
            #expect(fold(less, more) == more)
            #expect(fold(more, less) == more)
        }
    }

    private static func outcome(of proofs: [Proof], lookedAt moment: Timestamp) throws -> Outcome {
        var shop = try Shop()
        for proof in proofs { try show(proof, in: &shop) }
        shop.now = moment
        try shop.look()
        guard let row = shop.situation.subscription(of: try Shop.chain(1)) else { return Outcome(view: nil, row: []) }
        let period = row.currentKey.flatMap { shop.situation[$0]?.transaction }
        return Outcome(
            view: fold(row.chain, period, row.renewal, row.ends, at: moment),
            row: [
                "\(row.product) \(row.group ?? "-") \(row.current?.description ?? "-")",
                "\(row.expiresAt?.milliseconds ?? -1) \(row.graceEndsAt?.milliseconds ?? -1)",
                "\(row.willAutoRenew.map { "\($0)" } ?? "-") \(row.renewal?.signedAt.milliseconds ?? -1)",
                "\(row.ends) \(row.isShared)",
            ]
        )
    }

    private static func show(_ proof: Proof, in shop: inout Shop) throws {
        try shop.show(proof.transactions, renewals: proof.renewals, by: "ann")
    }

    private static func proof(_ random: inout SeededRandom) throws -> Proof {
        Proof(
            transactions: try (0..<Int.random(in: 0...2, using: &random)).map { _ in try period(&random) },
            renewals: try (0..<Int.random(in: 0...1, using: &random)).map { _ in try renewal(&random) }
        )
    }

    /// What Apple signs of one of four periods, which may be upgraded, refunded, given back and extended; one began in
    /// the middle of another.
    private static func period(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 1...4, using: &random)
        var period = try Sold.month(number, original: 1, from: [0, 30, 60, 40][Int(number) - 1])
        let day = Double.random(in: 0...20, using: &random).rounded()
        period.signedAt = period.purchasedAt.advanced(by: .seconds(Int64(day) * 86_400))
        if number == 4 { period.product = try Shop.product("lamp") }
        // What one was the copy of is bought at last.
        period.ownership = number < 3 ? .familyShared : .purchased
        period.isUpgraded = number == 2 && day > 10
        if number == 3, (5...8).contains(day) { period.revocation = Revocation(at: period.signedAt) }
        if number == 1, day > 15 { period.expiresAt = period.expiresAt?.advanced(by: .seconds(5 * 86_400)) }
        return period
    }

    private static func renewal(_ random: inout SeededRandom) throws -> Renewal {
        var renewal = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product(Bool.random(using: &random) ? "monthly" : "lamp"),
            signedAt: SubscriptionCase.at(Double(Int64.random(in: 0...12, using: &random) * 10))
        )
        renewal.renewsAt = [30.0, 60, 70, 90, nil].randomElement(using: &random)?.map(SubscriptionCase.at)
        renewal.willAutoRenew = [true, false, nil].randomElement(using: &random) ?? nil
        renewal.nextProduct = [try Shop.product("monthly"), nil].randomElement(using: &random) ?? nil
        renewal.isInBillingRetry = [true, false, nil].randomElement(using: &random) ?? nil
        renewal.expirationIntent = [1, 2, nil, nil].randomElement(using: &random) ?? nil
        if renewal.isInBillingRetry == true { renewal.graceEndsAt = renewal.signedAt.advanced(by: .seconds(86_400)) }
        renewal.priceIncreaseStatus = [0, 1, nil, nil].randomElement(using: &random) ?? nil
        renewal.recentStartAt = [0.0, 40, nil].randomElement(using: &random)?.map(SubscriptionCase.at)
        return renewal
    }
}
