import PurchaseModel
import Storage
import TestSupport
import Testing

/// Of two periods of a chain a receipt tells, and of one of them, or of both, Apple says whose it is; an order is placed for what
/// they are of, and paid by hand or not. What is given, and what is paid, does not depend on what came first.
@Suite struct CopyHistoryTests {
    /// What is told of, and how things are.
    struct Facts: Hashable, Sendable {
        /// Whose the two periods are, where Apple says it.
        var owners: [Ownership?]
        /// Whether the first period is over, or neither.
        var isFirstOver: Bool
        var needsOrder: Bool
        /// Whether a person has the second period pay the order.
        var isByHand: Bool

        var acts: [CopyShop.Act] {
            let heard = owners.enumerated().compactMap { place, owner in
                owner.map { CopyShop.Act.hear(Int64(place) + 1, $0) }
            }
            return [.receive(1), .receive(2), .place] + (isByHand ? [.attach(2)] : []) + heard
        }

        /// By the word on it, or else on the other one.
        func isCopy(_ place: Int) -> Bool { (owners[place] ?? owners[1 - place]) == .familyShared }

        func isOwed(_ place: Int) -> Bool { !isCopy(place) && !(place == 0 && isFirstOver) }
    }

    static let facts: [Facts] = {
        let owners: [Ownership?] = [nil, .purchased, .familyShared]
        let pairs = owners.flatMap { first in owners.map { [first, $0] } }
        return pairs.flatMap { owners in
            (0..<8).map { bits in
                Facts(owners: owners, isFirstOver: bits & 1 > 0, needsOrder: bits & 2 > 0, isByHand: bits & 4 > 0)
            }
        }
    }()

    /// Some of all orders; of three acts all.
    private static func histories(of facts: Facts) -> [[CopyShop.Act]] {
        let orders = FamilyCopyTests.orders(of: facts.acts.count).map { $0.map { facts.acts[$0] } }
        var random = SeededRandom(seed: 7)
        return Array(orders.shuffled(using: &random).prefix(12))
    }

    @Test(arguments: facts) func whatIsPaidIsPaidInAnyOrder(facts: Facts) async throws {
        let owed = (0...1).filter { facts.isOwed($0) }
        for acts in Self.histories(of: facts) {
            var shop = try CopyShop(MemoryStore(), needsOrder: facts.needsOrder)
            shop.now = Samples.now.advanced(by: .seconds((facts.isFirstOver ? 45 : 15) * 86_400))
            for act in acts { try await shop.act(act) }
            let words = try shop.words(1, 2)
            for place in 0...1 { #expect((words[place] == "granted") == owed.contains(place), "\(acts)") }
            #expect(try shop.gems() == 10 * Int64(owed.count), "\(acts)")
            switch try shop.state() {
            case .paid: #expect(!owed.isEmpty, "\(acts)")
            // By a receipt of what turned out to be a copy.
            case .refunded: #expect(try shop.payer().map { facts.isCopy($0 - 1) } == true, "\(acts)")
            // Where no order is needed, what was given before it was placed pays none.
            default: #expect(owed.isEmpty || !facts.needsOrder, "\(acts)")
            }
        }
    }
}
