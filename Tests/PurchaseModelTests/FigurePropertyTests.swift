import PurchaseModel
import TestSupport
import Testing

/// What holds of the figures whatever was sold, and in whatever order it is told. A red seed is a name to run again.
@Suite struct FigurePropertyTests {
    @Test(arguments: UInt64(0)..<100)
    func theyAreThoseOfTheFactsInAnyOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let facts = try Self.history(&random)
        let expected = try Self.counted(facts.map { [$0] })
        Self.compare(expected, with: Sales(of: Self.latest(facts)), seed)
        Self.checkMonths(expected, seed)
        for _ in 0..<3 {
            let again = (0..<6).compactMap { _ in facts.randomElement(using: &random) }
            let proofs = (facts + again).shuffled(using: &random).map { [$0] }
            #expect(Self.durable(try Self.counted(proofs)) == Self.durable(expected), "seed \(seed)")
        }
        #expect(Self.durable(try Self.counted([facts.shuffled(using: &random)])) == Self.durable(expected))
    }

    /// What is sold, added up by hand.
    private struct Sales {
        var (purchases, revenue, refunds, refunded): (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
        let paidTrials: Int64

        init(of transactions: [Transaction]) {
            paidTrials = Self.paidTrials(transactions)
            var ends: Set<Int64> = []
            for sold in transactions {
                if sold.ownership == .familyShared || sold.kind == .nonConsumable && sold.id != sold.originalID {
                    continue
                }
                if let end = sold.expiresAt, !ends.insert(end.milliseconds).inserted { continue }
                purchases += 1
                revenue += sold.price?.milliunits ?? 0
                guard let revocation = sold.revocation else { continue }
                // Receipts say a moment of any upgrade, and nothing else.
                let isMoment = revocation.reason == nil && revocation.type == nil && revocation.percentage == nil
                if sold.isUpgraded, isMoment { continue }
                refunds += 1
                refunded += (sold.price?.milliunits ?? 0) * Int64(revocation.percentage ?? 100_000) / 100_000
            }
        }

        /// Those that lie before a payment with nothing but free time between: looked at from each payment back.
        private static func paidTrials(_ transactions: [Transaction]) -> Int64 {
            var ends: Set<Int64> = []
            let periods = transactions.filter { $0.expiresAt.map { ends.insert($0.milliseconds).inserted } ?? false }
            var count: Int64 = 0
            for payment in periods.indices where periods[payment].price?.milliunits != 0 {
                // The last one before it may have lapsed long ago.
                var isNear = true
                for place in periods[..<payment].indices.reversed() where isNear {
                    if periods[place].price?.milliunits != 0 { break }
                    count += 1
                    let before = place > 0 ? periods[place - 1] : nil
                    let taken = before?.isUpgraded == false ? before?.revocation?.at : nil
                    let end = [before?.expiresAt, taken].compactMap(\.self).min()
                    isNear = end.map { periods[place].purchasedAt <= $0 } ?? false
                }
            }
            return count
        }
    }

    private static func compare(_ sums: FigureSums, with sales: Sales, _ seed: UInt64) {
        let purchases = sums.total(.firstPurchases) + sums.total(.renewals) + sums.total(.trials)
        #expect(purchases == sales.purchases, "seed \(seed)")
        #expect(sums.total(.revenue) == sales.revenue, "seed \(seed)")
        #expect(sums.total(.refunds) == sales.refunds && sums.total(.refunded) == sales.refunded, "seed \(seed)")
        #expect(sums.total(.convertedTrials) == sales.paidTrials, "seed \(seed)")
    }

    /// From month to month nothing comes or goes that no movement tells of.
    private static func checkMonths(_ sums: FigureSums, _ seed: UInt64) {
        var month = MonthOfTime(containing: Facts.now).advanced(by: -3)
        for _ in 0..<40 {
            let next = month.advanced(by: 1)
            func of(_ measure: Measure, _ month: MonthOfTime) -> Int64 { sums.total(measure) { $0 == month.firstDay } }
            let gained = of(.recurringNew, month) + of(.recurringExpansion, month) + of(.recurringReactivation, month)
            let lost = of(.recurringContraction, month) + of(.recurringChurn, month)
            #expect(of(.recurring, next) == of(.recurring, month) + gained - lost, "seed \(seed)")
            #expect(of(.subscribersLost, month) <= of(.subscribers, month), "seed \(seed)")
            month = next
        }
        #expect(sums.total(.periodsRenewed) <= sums.total(.periodsEnded))
        #expect(sums.total(.convertedTrials) == sums.total(.trialsConverted))
        // Of a hundred trials at most a hundred are paid for.
        for (key, converted) in sums.values where key.measure == .convertedTrials {
            #expect(converted <= sums.total(.trials) { $0 == key.day }, "seed \(seed)")
        }
    }

    /// Without what depends on when we heard of it.
    private static func durable(_ sums: FigureSums) -> [FigureKey: Int64] {
        let passing: Set<Measure> = [
            .active, .grace, .billingRetry, .expired, .revoked, .unknown, .renewalsDue, .lapsed, .granted,
        ]
        return sums.values.filter { !passing.contains($0.key.measure) }
    }

    private static func counted(_ proofs: [[Transaction]]) throws -> FigureSums {
        var shop = try Shop()
        for proof in proofs { try shop.show(proof) }
        #expect(shop.figures == Recount(shop).sums)
        return shop.figures
    }

    private static func latest(_ facts: [Transaction]) -> [Transaction] {
        Dictionary(grouping: facts, by: \.id).values.compactMap { $0.max { $0.signedAt < $1.signedAt } }
            .sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
    }

    /// A few things that were bought, and what Apple signed of each, at moments that all differ.
    private static func history(_ random: inout SeededRandom) throws -> [Transaction] {
        var sold: [Transaction] = []
        for number in Int64(1)...3 {
            sold.append(FigureTests.priced(try Sold.coins(number), Int64.random(in: 1...5_000, using: &random)))
        }
        sold.append(FigureTests.priced(try Sold.lamp(4), 10_000))
        sold.append(FigureTests.priced(try Sold.lamp(5, original: 4), 10_000))
        var day: Int64 = 0
        for number in Int64(11)...Int64.random(in: 11...18, using: &random) {
            var month = FigureTests.priced(
                try Sold.month(number, original: 11, from: day),
                Int64.random(in: 1...20, using: &random) * 500
            )
            if Int.random(in: 0..<(number == 11 ? 2 : 3), using: &random) == 0 {
                month.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
                month.price = Price(milliunits: 0, currency: "USD")
            }
            if Int.random(in: 0...5, using: &random) == 0 { month.isUpgraded = true }
            sold.append(month)
            day += month.isUpgraded ? 10 : [30, 30, 31, 95].randomElement(using: &random) ?? 30
        }
        sold.append(FigureTests.priced(try Sold.month(30, original: 11), 7_000))
        sold[sold.count - 1].price = sold.first { $0.id.number == 11 }?.price
        sold[sold.count - 1].offer = sold.first { $0.id.number == 11 }?.offer
        sold[sold.count - 1].isUpgraded = sold.first { $0.id.number == 11 }?.isUpgraded ?? false
        var facts: [Transaction] = []
        for (index, each) in sold.enumerated() {
            var each = each
            each.ownership = .purchased
            each.signedAt = each.purchasedAt.advanced(by: .seconds(Int64(index)))
            facts.append(each)
            guard each.id.number != 30, each.id.number != 11, Int.random(in: 0...3, using: &random) == 0 else {
                continue
            }
            let percentage = Bool.random(using: &random) ? nil : 25_000
            facts.append(Sold.refunded(each, after: 9 * 86_400, percentage: percentage))
        }
        return facts
    }
}
