import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A paid period has two numbers, and the row of the one that was given is damaged: by the other one nothing of it is mended, or
/// given again.
@Suite struct DamagedChainTests {
    /// Whether Apple took the period back, and what another hand wrote.
    struct Damage: Sendable, CustomStringConvertible {
        let description: String
        var isRefunded = false
        let change: @Sendable (inout Fulfilment.Stored) -> Void
    }

    static let damages = [
        Damage(description: "given, though it was taken back", isRefunded: true) { row in
            (row.state, row.reason, row.reversed, row.reversedAt) = (.granted, nil, 0, nil)
            row.goods = row.goods.map(\.ofWhole)
        },
        Damage(description: "given, though it was taken back, and nothing to deliver", isRefunded: true) { row in
            (row.state, row.reason, row.reversed, row.reversedAt) = (.granted, nil, 0, nil)
            row.goods = row.goods.map(\.ofWhole)
            row.delivery = nil
        },
        Damage(description: "waiting, though it was given") { row in
            (row.state, row.reason, row.unit, row.delivery) = (.waiting, .noOrder, nil, nil)
            (row.goods, row.fence) = ([], 0)
        },
        Damage(description: "withheld, though it was given") { row in
            (row.state, row.reason, row.unit, row.delivery) = (.withheld, .expired, nil, nil)
            (row.goods, row.fence) = ([], 0)
        },
        Damage(description: "given, and not known as what") { row in row.unit = nil },
    ]

    /// Also where a step of the walk sees just one of the numbers.
    @Test(arguments: damages, [Int64(7), 150]) func anotherNumberOfItMendsNothing(damage: Damage, again: Int64)
        async throws
    {
        let shop = try CheckedShop(MemoryStore())
        var given = try CheckedShop.sold(1, "monthly")
        var restored = try CheckedShop.sold(again, "monthly", original: 1)
        (restored.purchasedAt, restored.expiresAt) = (given.purchasedAt, given.expiresAt)
        try await shop.show(given)
        try await shop.show(restored)
        for number in 10..<140 { try await shop.show(CheckedShop.sold(Int64(number)), by: "bob") }
        if damage.isRefunded {
            given.signedAt = shop.now.advanced(by: .seconds(60))
            given.revocation = Revocation(at: given.signedAt)
            try await shop.show(given, by: nil)
        }
        #expect(try await Self.rows(shop).map(\.state) == [damage.isRefunded ? .reversed : .granted, .withheld])
        #expect(try await Self.rows(shop).last?.reason == .alreadyGranted)

        let damaged = try #require(try await Self.rows(shop).first).copy { row in
            row.version += 1
            damage.change(&row)
        }
        var otherHand = Decision()
        otherHand.fulfilments = [.update(damaged)]
        let decision = otherHand
        try await shop.store.write { write throws(StoreFailure) in try write.apply(decision, evidence: nil) }
        let before = (try await Self.rows(shop), try await Self.balance(shop))

        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        for _ in 1...2 {
            let applied = try await rebuild.apply(to: shop.store)
            #expect(applied.ofRows == [0, 1], "\(applied.listed)")
            #expect(applied.told == [:])
        }
        #expect(try await Self.rows(shop) == before.0)
        #expect(try await Self.balance(shop) == before.1)
    }

    private static func rows(_ shop: CheckedShop) async throws -> [Fulfilment] {
        let key = try shop.key(1)
        let chain = ChainKey(app: key.app, realm: key.realm, original: key.id)
        return try await shop.store.read { reader throws(StoreFailure) in try reader.fulfilments([chain]) }
            .sorted { $0.transaction.id < $1.transaction.id }
    }

    private static func balance(_ shop: CheckedShop) async throws -> Int64? {
        let wallet = try shop.wallet(of: "ann")
        return try await shop.store.read { reader throws(StoreFailure) in try reader.wallets([wallet]).first?.balance }
    }
}

extension GrantedGoods {
    /// As it was before anything of it was taken back.
    fileprivate var ofWhole: GrantedGoods {
        guard case .amount(let amount) = self else { return self }
        return .amount(GrantedAmount(currency: amount.currency, amount: amount.amount))
    }
}
