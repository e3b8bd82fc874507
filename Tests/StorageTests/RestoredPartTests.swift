import PurchaseModel
import Storage
import TestSupport
import Testing

/// A part that Apple takes back by the other number of a purchase: what a store must look up for it to count for what was given.
@Suite struct RestoredPartTests {
    private static func recording(_ number: Int64, _ kind: ProductKind, _ part: Int?) throws -> Recording {
        var sold = try Samples.transaction(number)
        (sold.originalID, sold.kind, sold.revocation) = (TransactionID(number: 1), kind, nil)
        sold.expiresAt = kind == .autoRenewable ? Samples.now.advanced(by: .seconds(86_400)) : nil
        if let part {
            sold.signedAt = sold.signedAt.advanced(by: .seconds(60))
            sold.revocation = Revocation(at: Samples.now, reason: 0, percentage: part)
        }
        var recording = Recording(app: try Samples.app(), realm: Samples.production, transactions: [sold])
        recording.customer = try Samples.customer("ann")
        let goods = Goods.amount(10, try #require(CurrencyID("gems")))
        recording.terms.products = [sold.product: ProductTerms(product: sold.product, kind: kind, goods: [goods])]
        return recording
    }

    /// Each row: numbers, and which part of each is taken back.
    private static let rows: [[(number: Int64, part: Int?)]] = [
        [(1, nil), (8, nil), (8, 40_000)], [(8, nil), (1, nil), (1, 40_000)], [(1, nil), (8, 40_000)],
        [(8, 40_000), (1, nil)],
    ]

    @Test(arguments: StoreKind.allCases, [ProductKind.nonConsumable, .autoRenewable])
    func itCountsForWhatWasGiven(kind: StoreKind, sold: ProductKind) async throws {
        let (app, ann) = (try Samples.app(), try Samples.customer("ann"))
        for row in Self.rows {
            try await kind.withStore { store in
                for (place, fact) in row.enumerated() {
                    let recording = try Self.recording(fact.number, sold, fact.part)
                    try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
                }
                let left = try await store.read { reader throws(StoreFailure) in
                    try reader.wallets(app: app, customer: ann)
                }
                #expect(left.map(\.balance) == [6])
            }
        }
    }
}
