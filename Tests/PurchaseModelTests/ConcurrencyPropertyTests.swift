import PurchaseModel
import TestSupport
import Testing

/// Two servers decide at the same time, neither seeing what the other decides. A store refuses the second commit where both
/// write the same row; where it does not, one of them must have decided what it would have decided after the other.
@Suite struct ConcurrencyPropertyTests {
    @Test(arguments: UInt64(0)..<500) func whatBothMayCommitCouldHaveComeOneAfterTheOther(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var shop = try Happenings.shop(&random)
        var compared = 0
        for step in 0..<40 {
            Happenings.pass(over: &shop, &random)
            try Happenings.happen(to: &shop, &random)
            Happenings.pass(over: &shop, &random)
            var (left, right) = (shop, shop)
            var leftAgain = random
            let one = try Happenings.happen(to: &left, &random)
            var rightAgain = random
            let other = try Happenings.happen(to: &right, &random)
            let named = Set(shop.ownTokens.keys)
            guard let one, let other, one.mayBeCommitted(beside: other), !one.maySlipPast(other, of: named),
                !other.maySlipPast(one, of: named)
            else { continue }
            compared += 1
            let isSoAfterOne = try Happenings.happen(to: &left, &rightAgain)?.written == other.written
            let isSoAfterOther = try Happenings.happen(to: &right, &leftAgain)?.written == one.written
            #expect(isSoAfterOne || isSoAfterOther, "step \(step)")
        }
        #expect(compared > 0)
    }

    /// Apple tells that one number of a chain is a copy out of a family, and somebody shows another one of which nothing is
    /// said: the chain is nobody's yet, and by the first nothing is given.
    @Test func whoComesToHaveCopiesMeetsWhoHearsOfThem() throws {
        let shop = try Shop()
        var (copy, shown) = (try Sold.lamp(9, original: 1), try Sold.lamp(5, original: 1))
        (copy.ownership, shown.ownership) = (.familyShared, nil)
        var (left, right) = (shop, shop)
        let heard = try left.show(copy, by: nil)
        let given = try right.show(shown)
        #expect(try right.word(5) == "granted")
        let mayBoth = heard.mayBeCommitted(beside: given)
        #expect(!mayBoth)
    }
}

extension Decision {
    /// Without what is told to who asked, who may be told how it was just before.
    fileprivate var written: Decision {
        var written = self
        written.outcomes = []
        return written
    }

    /// Orders are told of on production's side of the wall: one that is placed, and a purchase of the sandbox that waits for it,
    /// meet by the token that is made of the customer's name. In a shop without such tokens they do not meet until either is
    /// touched again; and no server is one.
    fileprivate func maySlipPast(_ other: Decision, of named: Set<String>) -> Bool {
        orders.contains { if case .insert(let order) = $0 { !named.contains(order.customer.text) } else { false } }
            && other.fulfilments.contains { $0.row.lacksOrder && $0.row.transaction.realm.environment == .sandbox }
    }

    /// Whether a store takes both: each row is inserted once, and updated from the version that was read; each event is the
    /// only one of its number in its stream.
    fileprivate func mayBeCommitted(beside other: Decision) -> Bool {
        func differ<Key: Hashable>(_ keys: (Decision) -> [Key]) -> Bool {
            Set(keys(self)).isDisjoint(with: keys(other))
        }
        struct Unit: Hashable {
            let chain: ChainKey
            let unit: GrantUnit
        }
        return differ { $0.changes.map(\.recorded.key) } && differ { $0.fulfilments.map(\.row.key) }
            && differ { $0.fulfilments.compactMap { row in row.row.unit.map { Unit(chain: row.row.chain, unit: $0) } } }
            && differ { $0.owners.map(\.row.chain) + $0.vacancies.map(\.row.chain) }
            && differ { $0.orders.map(\.row.key) }
            && differ { $0.subscriptions.map(\.row.chain) } && differ { $0.wallets.map(\.key) }
            && differ { $0.events.map(\.stream) } && differ { $0.tokens.map(\.row.key) }
    }
}
