import AppleFormats
import TestSupport
import Testing

/// Purchases that are written alike are read by each other's example; what is read must not depend on it.
@Suite("Purchases of one layout")
struct PurchaseLayoutTests {
    private typealias Samples = ReceiptSamples

    @Test("are read as if each stood alone, whichever octet of one is another")
    func everyOctet() throws {
        let first = Samples.set(Samples.subscription(transaction: "1000000156444991"))
        let second = Samples.set(Samples.subscription(transaction: "1000000156444992", web: 1_000_000_029_801_037))
        for place in second.indices {
            for bit in 0..<8 {
                var changed = second
                changed[place] ^= 1 << UInt8(bit)
                try expectAlike([first, second, changed, second])
            }
        }
    }

    @Test("are read as if each stood alone, by a seed", arguments: 0..<200 as Range<UInt64>)
    func seeds(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var purchases: [[UInt8]] = []
        for _ in 0..<Int.random(in: 2...40, using: &random) {
            var purchase = Samples.set(Self.attributes(&random))
            if Int.random(in: 0..<20, using: &random) == 0 {
                purchase[Int.random(in: purchase.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            purchases.append(purchase)
        }
        try expectAlike(purchases)
    }

    @Test("may be more than are remembered")
    func manyLayouts() throws {
        let purchases = (0..<60).map { number in
            Samples.set(
                Samples.subscription(transaction: "10000001564449\(10 + number)")
                    + [Samples.text(1_800, String(repeating: "x", count: number / 3))]
            )
        }
        let receipt = try AppReceipt(content(purchases)[...])
        let ids = receipt.purchases.map { receipt.string($0.transactionID) }
        #expect(ids == (0..<60).map { "10000001564449\(10 + $0)" })
        let extras = receipt.purchases.map { purchase in
            receipt.otherAttributes(of: purchase).first { $0.type == 1_800 }?.value.count
        }
        #expect(extras == (0..<60).map { $0 / 3 + 2 })
    }

    /// In the order in which they are given, which DER would not keep.
    private func content(_ purchases: [[UInt8]]) -> [UInt8] {
        DERWriter.encode { writer in
            writer.constructed(.set) { set in
                for attribute in Samples.head() { set.raw(attribute) }
                for purchase in purchases { set.raw(Samples.attribute(17, value: purchase)) }
            }
        }
    }

    /// Reads purchases in one receipt, and each in a receipt of its own.
    private func expectAlike(_ purchases: [[UInt8]]) throws {
        let alone = purchases.map { purchase in
            Result { () throws(FormatFault) in try facts(of: [purchase]) }
        }
        let together = Result { () throws(FormatFault) in try facts(of: purchases) }
        let faults = alone.compactMap { result in if case .failure(let fault) = result { fault } else { nil } }
        guard let firstFault = faults.first else {
            #expect(try together.get() == alone.flatMap { try $0.get() })
            return
        }
        guard case .failure(let fault) = together else {
            Issue.record("read together, and not alone: \(firstFault)")
            return
        }
        // What says where it is names another place.
        #expect(fault.field == firstFault.field)
    }

    private func facts(of purchases: [[UInt8]]) throws(FormatFault) -> [Facts] {
        let receipt = try AppReceipt(content(purchases)[...])
        return receipt.purchases.map { Facts($0, in: receipt) }
    }

    /// All that can be known of a purchase, wherever it stands.
    private struct Facts: Equatable {
        let texts: [String?]
        let numbers: [Int64?]
        let flags: [Bool?]
        let others: [[UInt8]]

        init(_ purchase: ReceiptPurchase, in receipt: AppReceipt) {
            texts = [
                purchase.productID, purchase.transactionID, purchase.originalTransactionID, purchase.promotionalOfferID,
            ].map(receipt.string)
            numbers = [
                purchase.quantity, purchase.purchaseDate, purchase.originalPurchaseDate, purchase.expiresDate,
                purchase.cancellationDate, purchase.productType, purchase.productAppleID, purchase.webOrderLineItemID,
            ]
            flags = [purchase.isTrialPeriod, purchase.isInIntroOfferPeriod]
            others = receipt.otherAttributes(of: purchase).map { attribute in
                [UInt8(truncatingIfNeeded: attribute.type), UInt8(truncatingIfNeeded: attribute.version)]
                    + receipt.value(of: attribute)
            }
        }
    }

    /// A purchase as Apple may write it: of few layouts, with any values.
    private static func attributes(_ random: inout SeededRandom) -> [[UInt8]] {
        func text(_ choices: String...) -> String { choices.randomElement(using: &random) ?? "" }
        var attributes = [
            Samples.number(1_701, Int64.random(in: 1...2, using: &random)),
            Samples.text(1_702, text("com.example.pro.month", "com.example.pro.annum", "com.example.größer", "coins")),
            Samples.text(1_703, String(Int.random(in: 1_000_000_000_000_000...1_000_000_999_999_999, using: &random))),
            Samples.date(1_704, text("2024-02-23T17:20:00Z", "2024-02-29T23:59:59Z", "2023-02-29T00:00:00Z")),
            Samples.text(1_705, text("1000000156444989", "1000000156444990")),
            Samples.date(1_706, text("2024-01-23T17:20:01Z", "2024-01-23 17:20:01 Etc/GMT")),
            Samples.number(1_707, Int64.random(in: 0...4, using: &random)),
            Samples.date(1_708, text("2024-03-23T17:20:00Z", "")),
            Samples.number(1_710, [0, 1_234_567, -1, 40_000].randomElement(using: &random) ?? 0),
            Samples.number(1_711, Int64.random(in: 1_000_000_000...1_000_000_000_999, using: &random)),
            Samples.date(1_712, text("", "", "", "2024-03-01T00:00:00Z")),
            Samples.number(1_713, Int64.random(in: 0...1, using: &random)),
            Samples.text(1_714, text("", "ab", "cd")),
            Samples.number(1_719, Int64.random(in: 0...1, using: &random)),
        ]
        if Bool.random(using: &random) { attributes.append(Samples.text(1_721, text("spring", "autumn"))) }
        if Int.random(in: 0..<10, using: &random) == 0 { attributes.append(attributes[2]) }
        if Int.random(in: 0..<5, using: &random) == 0 { attributes.shuffle(using: &random) }
        return attributes
    }
}
