import Pipeline
import PurchaseModel
import Simulator
import Storage

extension Audit {
    /// Each transaction stands there once, on its side of the wall, and as Apple signed it.
    func checkRecords() {
        expect(
            store.figures.transactions == store.transactions.count,
            "I1 uniqueness, I3 no forgery",
            "\(store.figures.transactions) transactions, \(store.transactions.count) of them sold"
        )
        expect(Set(store.transactions.keys.map(\.id)).count == store.transactions.count, "I1 uniqueness", "twice")
        for (key, row) in store.transactions {
            guard let sold = sold[key.id] else { continue }
            expect(key == self.key(sold), "I11 environment wall", "\(key.id) stands in \(key.realm.environment)")
            let isSigned = facts[key.id, default: []].contains { fact in
                fact.signedAt == row.transaction.signedAt && fact.revocation == row.transaction.revocation
                    && fact.product == row.transaction.product && fact.quantity == row.transaction.quantity
                    && fact.expiresAt == row.transaction.expiresAt && fact.originalID == row.transaction.originalID
                    && fact.purchasedAt == row.transaction.purchasedAt
            }
            expect(isSigned, "I3 no forgery", "\(key.id) is as nobody signed it")
        }
    }

    /// What anybody was told to be there is there, and nothing older has taken its place.
    func checkTestimonies() {
        for (key, facts) in told.accepted {
            guard let row = store.transactions[key] else {
                expect(false, "I2 durability", "\(key.id) was answered and is not there")
                continue
            }
            let newest = facts.map(\.signedAt).max() ?? row.transaction.signedAt
            expect(row.transaction.signedAt >= newest, "I9 newest fact counts", "\(key.id) has an older fact")
        }
        for (key, moments) in told.told {
            let newest = store.transactions[key]?.transaction.signedAt
            let isThere = newest.map { newest in moments.allSatisfy { $0 <= newest } } ?? false
            expect(isThere, "I5 nothing lost", "what Apple told of \(key.id)")
        }
        for order in told.placed {
            expect(store.orders[order] != nil, "I2 durability", "order \(order)")
        }
        for (delivery, fence) in told.acknowledged {
            let row = store.fulfilments.values.first { DeliveryID($0.transaction).description == delivery }
            let isSo = row.map { $0.fence > fence || $0.delivery == .acknowledged || $0.delivery == .compensated }
            expect(isSo ?? false, "I2 durability", "acknowledgement of \(delivery)")
        }
        expect(
            store.figures.pendingSubmissions >= told.kept.count,
            "I2 durability",
            "\(store.figures.pendingSubmissions) wait, \(told.kept.count) were answered"
        )
    }

    /// In the end the ledger knows all that there is to know.
    func checkTruth() {
        for sold in sold.values {
            guard let row = store.transactions[key(sold)] else {
                expect(false, "I5 nothing lost", "\(sold.id) was sold and is not there")
                continue
            }
            expect(
                row.transaction.revocation == sold.fact.revocation && row.transaction.expiresAt == sold.fact.expiresAt
                    && row.transaction.isUpgraded == sold.fact.isUpgraded,
                "I9 newest fact counts",
                "\(sold.id) is not as the App Store has it: \(row.transaction), \(sold.fact)"
            )
        }
    }
}
