import PurchaseModel
import TestSupport
import Testing

/// Entitlements that a person gives without a purchase.
@Suite struct GrantedEntitlementTests {
    private static let realm = Realm(environment: .production, isTestSigned: false)
    private static let motive = Motive(actor: "shop", reason: "the outage")

    /// An app whose products give `pro` and `plus`.
    private struct Desk {
        let key: GrantedEntitlementKey
        let terms: AppTerms
        private(set) var situation = Situation()
        private(set) var events: [LedgerEvent] = []
        var now = Timestamp(seconds: 1_000)

        init(_ entitlement: String = "pro") throws {
            key = GrantedEntitlementKey(
                app: try #require(AppID("game")),
                realm: GrantedEntitlementTests.realm,
                customer: try #require(CustomerID("ann")),
                entitlement: try #require(EntitlementID(entitlement))
            )
            let product = try #require(ProductID("plan"))
            let goods = try ["pro", "plus"].map { Goods.entitlement(try #require(EntitlementID($0))) }
            terms = AppTerms(products: [product: ProductTerms(product: product, kind: .nonConsumable, goods: goods)])
        }

        var row: GrantedEntitlement? { situation.grantedEntitlement(key) }

        mutating func grant(until second: Int64?) throws(RequestFault) {
            let end = second.map { Timestamp(seconds: $0) }
            take(try decide(situation, granting: key, until: end, because: motive, terms: terms, at: now))
        }

        mutating func revoke() throws(RequestFault) {
            take(try decide(situation, revoking: key, because: motive, at: now))
        }

        private mutating func take(_ decision: Decision) {
            #expect(decision.isEmpty == decision.events.isEmpty)
            #expect(decision.grantedEntitlements.count == decision.events.count)
            situation.apply(decision)
            events += decision.events
        }
    }

    @Test func itIsGrantedChangedRevokedAndGrantedAnew() throws {
        var desk = try Desk()
        try desk.grant(until: 2_000)
        try desk.grant(until: 2_000)
        #expect(desk.row?.version == 1)
        try desk.grant(until: nil)
        #expect(desk.row?.until == nil)
        try desk.revoke()
        try desk.revoke()
        #expect(desk.row?.isInForce(at: desk.now) == false)
        desk.now = Timestamp(seconds: 1_500)
        try desk.grant(until: 3_000)
        #expect(desk.row?.isInForce(at: desk.now) == true)
        #expect(desk.row?.isInForce(at: Timestamp(seconds: 3_000)) == false)
        #expect(desk.row?.changedAt == desk.now)
        #expect(desk.row?.motive == Self.motive)
        #expect(desk.row?.version == 4)
        let types: [EventType] = [.entitlementGranted, .entitlementGranted, .entitlementRevoked, .entitlementGranted]
        #expect(desk.events.map(\.type) == types)
        #expect(desk.events.map(\.sequence) == [1, 2, 3, 4])
        #expect(desk.events.allSatisfy { $0.stream == desk.key.stream })
    }

    @Test func afterItsEndItIsNotRevokedButGrantedAnew() throws {
        var desk = try Desk()
        try desk.grant(until: 2_000)
        desk.now = Timestamp(seconds: 2_000)
        try desk.revoke()
        #expect(desk.row?.isRevoked == false)
        #expect(desk.events.count == 1)
        try desk.grant(until: 2_001)
        #expect(desk.events.count == 2)
    }

    @Test func whatCannotBeSaysWhy() throws {
        var desk = try Desk()
        #expect(throws: RequestFault.isOver) { try desk.grant(until: 1_000) }
        #expect(throws: RequestFault.unknown) { try desk.revoke() }
        var other = try Desk("premium")
        #expect(throws: RequestFault.unknown) { try other.grant(until: nil) }
        #expect(desk.events.isEmpty && other.events.isEmpty)
    }

    /// What lasts longer counts; of two that last equally long, what was bought.
    @Test(arguments: [
        (bought: 2_000 as Int64?, byHand: 3_000 as Int64?, isBought: false, until: 3_000 as Int64?),
        (3_000, 2_000, true, 3_000), (2_000, 2_000, true, 2_000), (nil, 2_000, true, nil), (2_000, nil, false, nil),
        (nil, nil, true, nil), (900, 2_000, false, 2_000), (2_000, 900, true, 2_000),
    ])
    func theLongerOfPurchaseAndGiftCounts(bought: Int64?, byHand: Int64?, isBought: Bool, until: Int64?) throws {
        var desk = try Desk()
        desk.now = Timestamp(seconds: 800)
        try desk.grant(until: byHand)
        let id = try #require(TransactionID(number: 7))
        var stored = Fulfilment.Stored(
            transaction: TransactionKey(app: desk.key.app, realm: Self.realm, id: id),
            original: id,
            product: try #require(ProductID("plan")),
            quantity: 1,
            purchasedAt: desk.now,
            state: .granted,
            decidedAt: desk.now,
            version: 1
        )
        stored.goods = [.entitlement(desk.key.entitlement, until: bought.map { Timestamp(seconds: $0) })]
        let found = entitlements(
            [Fulfilment(stored: stored)],
            [RecordedSubscription](),
            [try #require(desk.row)],
            at: Timestamp(seconds: 1_000)
        )
        #expect(found.count == 1)
        #expect(found.first?.until == until.map { Timestamp(seconds: $0) })
        #expect((found.first?.purchase != nil) == isBought)
    }
}
