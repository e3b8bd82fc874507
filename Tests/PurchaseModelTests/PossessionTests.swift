import PurchaseModel
import Testing

/// What may be called bought where there are no words for waiting and withholding.
@Suite struct PossessionTests {
    private static func fulfilment(
        _ state: FulfilmentState,
        _ reason: FulfilmentReason? = nil,
        in realm: Realm = Shop.production,
        of product: String = "lamp",
        _ goods: [GrantedGoods] = []
    ) throws -> Fulfilment {
        let id = try #require(TransactionID(number: 1))
        var stored = Fulfilment.Stored(
            transaction: TransactionKey(app: try #require(AppID("shop")), realm: realm, id: id),
            original: id,
            product: try Shop.product(product),
            quantity: 1,
            purchasedAt: Facts.now,
            state: state,
            decidedAt: Facts.now,
            version: 1
        )
        (stored.reason, stored.goods) = (reason, goods)
        return Fulfilment(stored: stored)
    }

    @Test func onlyWhatWasDeliveredIsPossessed() throws {
        let plain = AppTerms()
        #expect(try Self.fulfilment(.granted).isPossessed(under: plain, at: Facts.now))
        #expect(try !Self.fulfilment(.reversed).isPossessed(under: plain, at: Facts.now))
        let (gems, light) = (try Shop.currency("gems"), try Shop.right("light"))
        let amount = GrantedGoods.amount(GrantedAmount(currency: gems, amount: 5, reversed: 2))
        for (goods, isPossessed) in [
            ([], true), ([amount], true), ([.entitlement(light, until: Facts.now), amount], false),
        ] {
            let part = try Self.fulfilment(.partlyReversed, of: "coins", goods)
            #expect(part.isPossessed(under: plain, at: Facts.now) == isPossessed)
        }
        let withheld: [FulfilmentReason] = [.revoked, .upgraded, .familyShared, .expired, .alreadyGranted]
        let open: [FulfilmentReason] = [.noCustomer, .fromHistory]
        for reason in FulfilmentReason.allCases {
            let state: FulfilmentState = withheld.contains(reason) ? .withheld : .waiting
            let isPossessed = try Self.fulfilment(state, reason).isPossessed(under: plain, at: Facts.now)
            #expect(isPossessed == open.contains(reason), "\(reason)")
        }
    }

    /// Nobody's is whoever's who shows it, where anybody would be given it.
    @Test func whatIsNobodysIsPossessedWhereAnybodyWouldBeGivenIt() throws {
        let later = Facts.now.advanced(by: .seconds(60))
        let rows: [(realm: Realm, needsOrder: Bool, sandbox: SandboxRule, isPossessed: Bool)] = [
            (Shop.production, false, .recordOnly, true), (Shop.production, true, .recordOnly, false),
            (Shop.sandbox, false, .recordOnly, false), (Shop.sandbox, false, .everybody(until: later), true),
            (Shop.sandbox, false, .everybody(until: Facts.now), false), (Shop.sandbox, false, .customers([]), false),
            (Shop.sandbox, true, .everybody(until: later), false),
        ]
        for row in rows {
            let terms = AppTerms(needsOrder: row.needsOrder, sandbox: row.sandbox)
            let fulfilment = try Self.fulfilment(.waiting, .noCustomer, in: row.realm)
            #expect(fulfilment.isPossessed(under: terms, at: Facts.now) == row.isPossessed, "\(row)")
        }
    }

    @Test func itLastsAsLongAsTheLongestOfItsGoods() throws {
        let terms = try Shop().terms
        let (one, two) = (try Shop.right("light"), try Shop.right("season"))
        let (soon, late) = (Facts.now.advanced(by: .seconds(1)), Facts.now.advanced(by: .seconds(2)))
        let amount = GrantedGoods.amount(GrantedAmount(currency: try Shop.currency("gems"), amount: 1))
        let rows: [(goods: [GrantedGoods], end: Timestamp?)] = [
            ([], nil), ([amount], nil), ([.entitlement(one, until: soon), amount], soon),
            ([.entitlement(one, until: late), .entitlement(two, until: soon)], late),
            ([.entitlement(one, until: nil), .entitlement(two, until: soon)], nil),
        ]
        for row in rows {
            #expect(try Self.fulfilment(.granted, of: "season", row.goods).end(under: terms, quantity: 1) == row.end)
        }
        // Of what nothing was given for yet, the catalogue says it.
        let days = Facts.now.advanced(by: .seconds(90 * 86_400))
        #expect(try Self.fulfilment(.waiting, .noCustomer, of: "season").end(under: terms, quantity: 1) == days)
        let three = days.advanced(by: .seconds(180 * 86_400))
        #expect(try Self.fulfilment(.waiting, .noCustomer, of: "season").end(under: terms, quantity: 3) == three)
        #expect(try Self.fulfilment(.waiting, .noCustomer).end(under: terms, quantity: 1) == nil)
        #expect(try Self.fulfilment(.waiting, .noCustomer, of: "season").end(under: AppTerms(), quantity: 1) == nil)
    }
}
