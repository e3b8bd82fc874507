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

    @Test("are read as if each stood alone, whichever octet is another in the first of them")
    func everyOctetOfTheFirst() throws {
        let models = ["1000000156444991", "1000000156444992"].map { Samples.set(Samples.subscription(transaction: $0)) }
        let usual = Samples.set(Samples.subscription(transaction: "1000000156444993"))
        for place in usual.indices {
            for bit in 0..<8 {
                let changed = models.map { model in
                    var changed = model
                    changed[place] ^= 1 << UInt8(bit)
                    return changed
                }
                try expectAlike(changed + [usual, changed[0]])
            }
        }
    }

    @Test(
        "may have values of one length that are written in different ways",
        arguments: [
            [Samples.date(1_704, "2024-02-10T17:20:00+0100"), Samples.date(1_704, "2024-02-10T17:20:00.123Z")],
            [Samples.date(1_704, "2024-02-10 17:20:00 Etc/GMT"), Samples.date(1_704, "2024-02-10T17:20:00.12+0100")],
            [Samples.text(1_702, "pro"), Samples.text(1_702, "p\0o")],
            [Samples.text(1_702, "com.example.pro.month"), Samples.text(1_702, "com.example.pro.mont\0")],
            [[0, 0x80], [0xFF, 0x80]].map { octets in Samples.attribute(1_701) { $0.primitive(.integer, octets) } },
            [0, 1].map { first in
                Samples.attribute(1_711) { $0.primitive(.integer, [first] + [UInt8](repeating: 0xFF, count: 8)) }
            },
        ]
    )
    func values(ways: [[UInt8]]) throws {
        let padding = Samples.text(1_900, String(repeating: "x", count: 40))
        for (model, other) in [(ways[0], ways[1]), (ways[1], ways[0])] {
            let purchases = [model, model, other, model].enumerated().map { place, value in
                Self.unsorted([Samples.text(1_703, "100000015644499\(place)"), padding, value])
            }
            try expectAlike(purchases)
        }
    }

    @Test("may be so many and no more, however alike they are")
    func number() throws {
        let purchase = Self.unsorted(
            [Samples.text(1_703, "1000000156444991"), Samples.text(1_900, String(repeating: "x", count: 40))]
        )
        let most = Array(repeating: purchase, count: AppReceipt.purchasesMax)
        #expect(try AppReceipt(content(most)[...]).purchases.count == AppReceipt.purchasesMax)
        let fault = #expect(throws: FormatFault.self) { try AppReceipt(content(most + [purchase])[...]) }
        guard case .tooLarge = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test("are read by the one before them: a text that both have is where it stands there")
    func example() throws {
        let purchases = (1...3).map { Samples.set(Samples.subscription(transaction: "100000015644499\($0)")) }
        let read = try AppReceipt(content(purchases)[...]).purchases
        #expect(read.map(\.productID) == Array(repeating: read[0].productID, count: 3))
        #expect(Set(read.map(\.transactionID)).count == 3)
        // Another number is another layout.
        let other = Samples.set(
            Samples.subscription(transaction: "1000000156444994").map { attribute in
                attribute == Samples.number(1_707, 3) ? Samples.number(1_707, 2) : attribute
            }
        )
        let mixed = try AppReceipt(content(purchases.prefix(2) + [other])[...]).purchases
        #expect(mixed[1].productID == mixed[0].productID)
        #expect(mixed[2].productID != mixed[0].productID)
        #expect(mixed[2].productType == 2)
    }

    @Test("are read as if each stood alone, by a seed", arguments: 0..<300 as Range<UInt64>)
    func seeds(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let shapes = (0..<Int.random(in: 1...3, using: &random)).map { _ in Shape(&random) }
        var purchases = (0..<Int.random(in: 2...30, using: &random)).map { _ in
            shapes.randomElement(using: &random)?.purchase(&random) ?? []
        }
        // Half of the receipts have a purchase with another octet, which may be good or bad.
        if Bool.random(using: &random), let place = purchases.indices.randomElement(using: &random) {
            let octet = Int.random(in: purchases[place].indices, using: &random)
            purchases[place][octet] = UInt8(truncatingIfNeeded: random.next())
        }
        try expectAlike(purchases)
    }

    @Test(
        "may be of any size around what a layout is made of",
        arguments: [40, 62, 63, 64, 65, 66, 4_094, 4_095, 4_096, 4_097]
    )
    func sizes(size: Int) throws {
        for length in max(0, size - 60)...size {
            let purchases = ["1000000156444991", "1000000156444992"].map { id in
                Self.unsorted([Samples.text(1_703, id), Samples.text(1_800, String(repeating: "x", count: length))])
            }
            try expectAlike(purchases + purchases)
        }
    }

    /// Each beside itself with another last octet of the transaction's number, so that a layout is made of the first.
    @Test("may be written in BER's ways, or be refused for what stands in one")
    func unusual() throws {
        let id = Samples.text(1_703, "1000000156444991")
        let ends: [[UInt8]] = [
            Samples.attribute(1_713) { $0.primitive(.integer, [0, 1]) },
            Samples.attribute(1_713) { $0.primitive(.integer, [0, 2]) },
            Samples.attribute(1_711) { $0.primitive(.integer, [UInt8](repeating: 0x7F, count: 9)) },
            Samples.attribute(1_702, value: [0x0C, 0x81, 2, 0x61, 0x62]),
            Samples.attribute(1_702, value: [0x0C, 0x82, 0, 2, 0x61, 0x62]),
            Samples.attribute(1_800, value: [0, 0, 0x30, 0x80, 0, 0]),
            Samples.attribute(1_800, value: [0x30, 0x82, 0xFF, 0xFF]),
            Samples.text(1_703, "1000000156444991"),
            DERWriter.encode { writer in
                writer.indefinite(.sequence) { fields in
                    fields.integer(1_800)
                    fields.integer(1)
                    fields.octetString([0, 0, 0, 0])
                }
            },
        ]
        for end in ends {
            for isIndefinite in [false, true] {
                let first = Self.unsorted(
                    [id, Samples.text(1_900, String(repeating: "x", count: 40)), end],
                    isIndefinite
                )
                for place in first.indices {
                    var second = first
                    second[place] ^= 1
                    try expectAlike([first, second, first])
                }
            }
        }
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
        // Where it stands is another place.
        #expect(fault.field == firstFault.field)
        #expect(fault.reason == firstFault.reason)
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
        let others: [Other]

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
                Other(type: attribute.type, version: attribute.version, value: Array(receipt.value(of: attribute)))
            }
        }
    }

    private struct Other: Equatable {
        let type: Int32
        let version: Int32
        let value: [UInt8]
    }

    /// In the order in which they are given.
    private static func unsorted(_ attributes: [[UInt8]], _ isIndefinite: Bool = false) -> [UInt8] {
        DERWriter.encode { writer in
            func write(_ set: inout DERWriter) { for attribute in attributes { set.raw(attribute) } }
            if isIndefinite { writer.indefinite(.set, write) } else { writer.constructed(.set, write) }
        }
    }

    /// What purchases have in common that Apple writes alike.
    private struct Shape {
        private let numbers: [[UInt8]]
        private let product: [String]
        private let hasExpiry: Bool
        private let isCancelled: Bool
        private let offers: [String]
        private let itemIDs: ClosedRange<Int64>
        private let order: [Int]

        init(_ random: inout SeededRandom) {
            numbers = [
                Samples.number(1_701, Int64.random(in: 1...2, using: &random)),
                Samples.number(1_707, Int64.random(in: 0...4, using: &random)),
                Samples.number(1_713, Int64.random(in: 0...1, using: &random)),
                Samples.number(1_719, Int64.random(in: 0...1, using: &random)),
            ]
            product =
                Bool.random(using: &random)
                ? ["com.example.pro.month", "com.example.pro.annum"] : ["größer", "Größer"]
            hasExpiry = Bool.random(using: &random)
            isCancelled = Int.random(in: 0..<4, using: &random) == 0
            offers = Bool.random(using: &random) ? ["spring", "autumn"].map { String($0.prefix(6)) } : []
            itemIDs = Bool.random(using: &random) ? 0...127 : 40_000...8_000_000
            order = Array(0..<14).shuffled(using: &random)
        }

        func purchase(_ random: inout SeededRandom) -> [UInt8] {
            func date(_ isThere: Bool = true) -> String {
                let (day, hour) = (Int.random(in: 10...28, using: &random), Int.random(in: 10...23, using: &random))
                return isThere ? "2024-02-\(day)T\(hour):20:00Z" : ""
            }
            func id(_ range: ClosedRange<Int64>) -> String { String(Int64.random(in: range, using: &random)) }
            var attributes = numbers
            attributes += [
                Samples.text(1_702, product.randomElement(using: &random) ?? ""),
                Samples.text(1_703, id(1_000_000_000_000_000...1_000_000_999_999_999)),
                Samples.date(1_704, date()),
                Samples.text(1_705, id(1_000_000_000_000_000...1_000_000_000_000_001)),
                Samples.date(1_706, date()),
                Samples.date(1_708, date(hasExpiry)),
                Samples.number(1_710, Int64.random(in: itemIDs, using: &random)),
                Samples.number(1_711, Int64.random(in: 1_000_000_000_000...1_000_999_999_999, using: &random)),
                Samples.date(1_712, date(isCancelled)),
                Samples.text(1_714, id(10...12)),
            ]
            attributes = order.map { attributes[$0] }
            if let offer = offers.randomElement(using: &random) { attributes.append(Samples.text(1_721, offer)) }
            return unsorted(attributes)
        }
    }
}
