import AppleFormats
import Testing

@Suite("An app receipt's content")
struct AppReceiptTests {
    private typealias Samples = ReceiptSamples

    @Test("gives every field")
    func fields() throws {
        let receipt = try AppReceipt(Samples.content(purchases: 3)[...])
        #expect(receipt.kind == "Production")
        #expect(receipt.bundleID == Samples.bundleID)
        #expect(Array(receipt.bundleIDOctets) == [0x0C, 15] + Array(Samples.bundleID.utf8))
        #expect(Array(receipt.opaqueValue) == Array(1...16))
        #expect(Array(receipt.deviceHash) == Array(101...120))
        #expect(receipt.applicationVersion == "434")
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.creationDate == 1_708_709_236_000)
        #expect(receipt.requestDate == 1_708_709_235_000)
        #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
        #expect(receipt.expirationDate == nil)
        #expect(receipt.appAppleID == 690_661_663)
        #expect(receipt.downloadID == 502_787_298_214_239_215)
        #expect(receipt.versionExternalID == 863_855_306)
        #expect(receipt.purchases.count == 3)
        #expect(receipt.otherAttributes.map(\.type).sorted() == [6, 7, 9, 10, 11, 13, 14, 20, 25])
        #expect(receipt.number(of: ReceiptAttribute.Receipt.systemVersion) == 170_200)
        #expect(receipt.text(of: ReceiptAttribute.Receipt.ageRating) == "4+")
        #expect(receipt.text(of: 20) == nil)
        #expect(receipt.number(of: 10) == nil)
        #expect(receipt.number(of: 4_711) == nil)
        #expect(try AppReceipt.bundleID(in: Samples.content(purchases: 3)[...]) == Samples.bundleID)
    }

    @Test("gives every field of a purchase, an empty text as none")
    func purchase() throws {
        let receipt = try AppReceipt(
            Samples.set([Samples.purchase(Samples.subscription(transaction: "1000000156444990"))])[...]
        )
        let purchase = try #require(receipt.purchases.first)
        #expect(purchase.quantity == 1)
        #expect(receipt.string(purchase.productID) == "com.example.pro.month")
        #expect(receipt.string(purchase.transactionID) == "1000000156444990")
        #expect(receipt.string(purchase.originalTransactionID) == "1000000156444989")
        #expect(purchase.purchaseDate == 1_708_708_800_000)
        #expect(purchase.originalPurchaseDate == 1_706_030_401_000)
        #expect(purchase.expiresDate == 1_711_214_400_000)
        #expect(purchase.cancellationDate == nil)
        #expect(purchase.productType == 3)
        #expect(purchase.productAppleID == 0)
        #expect(purchase.webOrderLineItemID == 1_000_000_029_801_036)
        #expect(purchase.isTrialPeriod == false)
        #expect(purchase.isInIntroOfferPeriod == true)
        #expect(receipt.string(purchase.promotionalOfferID) == nil)
        let others = receipt.otherAttributes(of: purchase)
        #expect(others.map(\.type).sorted() == [1_709, 1_714, 1_715, 1_716, 1_717, 1_718, 1_722])
        #expect(others.filter { $0.type == 1_722 }.map { Array(receipt.value(of: $0)) } == [[2, 1, 0]])
    }

    @Test("keeps one purchase's further attributes apart from another's")
    func othersOfEach() throws {
        let receipt = try AppReceipt(
            Samples.set([
                Samples.purchase([Samples.text(1_703, "1"), Samples.text(1_750, "a")]),
                Samples.text(99, "own"),
                Samples.purchase([Samples.text(1_703, "22"), Samples.text(1_750, "bb"), Samples.number(1_751, 5)]),
            ])[...]
        )
        let values = receipt.purchases.map { purchase in
            receipt.otherAttributes(of: purchase).map { Array(receipt.value(of: $0)) }
        }
        #expect(values == [[[0x0C, 1, 0x61]], [[2, 1, 5], [0x0C, 2, 0x62, 0x62]]])
        #expect(receipt.text(of: 99) == "own")
    }

    static let bad: [(what: String, attributes: [[UInt8]], fault: FormatFault)] = [
        ("two bundle ids", [Samples.text(2, "a"), Samples.text(2, "b")], .repeated(field: "attribute_2")),
        ("the same bundle id twice", [Samples.text(2, "a"), Samples.text(2, "a")], .repeated(field: "attribute_2")),
        (
            "a second, empty creation date", [Samples.date(12, ""), Samples.date(12, "")],
            .repeated(field: "attribute_12")
        ),
        (
            "two transaction ids in a purchase",
            [Samples.purchase([Samples.text(1_703, "1"), Samples.text(1_703, "2")])],
            .repeated(field: "attribute_1703")
        ),
        ("a number as bundle id", [Samples.number(2, 5)], .wrongType(field: "bundle_id")),
        ("a text as app id", [Samples.text(1, "5")], .wrongType(field: "app_item_id")),
        (
            "an app id of 65 bits", [Samples.attribute(1) { $0.natural([1] + Samples.zeros(8)) }],
            .invalidValue(field: "app_item_id")
        ),
        (
            "a download id of 64 bits without sign", [Samples.attribute(15) { $0.natural([0x80] + Samples.zeros(7)) }],
            .invalidValue(field: "download_id")
        ),
        ("no value in the value", [Samples.attribute(2, value: [])], .invalidValue(field: "bundle_id")),
        (
            "a date that is none", [Samples.date(12, "2024-02-30T00:00:00Z")],
            .invalidValue(field: "receipt_creation_date")
        ),
        (
            "a bundle id that is not UTF-8", [Samples.attribute(2) { $0.primitive(.utf8String, [0xC3, 0x28]) }],
            .invalidValue(field: "bundle_id")
        ),
        ("a NUL in the bundle id", [Samples.text(2, "com.a\0b")], .invalidValue(field: "bundle_id")),
        ("a trial flag of 2", [Samples.purchase([Samples.number(1_713, 2)])], .invalidValue(field: "is_trial_period")),
        ("an attribute type of 33 bits", [Samples.number(1 << 32, 0)], .invalidValue(field: "attribute_type")),
    ]

    @Test("is refused for a field's sake", arguments: bad)
    func refused(what: String, attributes: [[UInt8]], fault: FormatFault) {
        #expect(throws: fault) { try AppReceipt(Samples.set(attributes)[...]) }
    }

    @Test("is refused when its purchase is not a set")
    func purchaseIsNotASet() {
        let number = Samples.set([Samples.number(17, 1)])
        #expect(throws: FormatFault.self) { try AppReceipt(number[...]) }
        let empty = Samples.set([Samples.attribute(17, value: [])])
        #expect(throws: FormatFault.self) { try AppReceipt(empty[...]) }
        let two = Samples.set([Samples.attribute(17, value: Samples.set([]) + Samples.set([]))])
        #expect(throws: FormatFault.self) { try AppReceipt(two[...]) }
    }

    @Test("is refused when it is not one set of attributes")
    func notASet() {
        let wrong: [[UInt8]] = [
            [], Samples.text(2, "a"), Samples.set([]) + [0], Samples.set([[0x05, 0x00]]),
            Samples.set([DERWriter.encode { $0.sequence { $0.integer(2) } }]),
            Samples.set([
                DERWriter.encode { writer in
                    writer.sequence { fields in
                        fields.integer(2)
                        fields.integer(1)
                        fields.octetString([0x0C, 0])
                        fields.null()
                    }
                }
            ]),
        ]
        for content in wrong {
            #expect(throws: FormatFault.self) { try AppReceipt(content[...]) }
        }
    }

    @Test("may be empty, and may lack every field")
    func empty() throws {
        let receipt = try AppReceipt(Samples.set([])[...])
        #expect(receipt.bundleID == nil)
        #expect(receipt.purchases.isEmpty)
        #expect(receipt.opaqueValue.isEmpty)
        #expect(receipt.bundleIDOctets.isEmpty)
    }

    @Test("takes any of the three string types")
    func stringTypes() throws {
        for tag in [DERTag.utf8String, .ia5String, .printableString] {
            let content = Samples.set([Samples.attribute(2) { $0.primitive(tag, Array("com.a".utf8)) }])
            #expect(try AppReceipt(content[...]).bundleID == "com.a")
        }
    }

    @Test("keeps raw what may look like ASN.1")
    func cipher() throws {
        let receipt = try AppReceipt(Samples.set([Samples.attribute(7, value: [0x30, 0x80, 0x01])])[...])
        #expect(receipt.otherAttributes.map { Array(receipt.value(of: $0)) } == [[0x30, 0x80, 0x01]])
    }

    @Test("reads from the middle of a larger array")
    func slice() throws {
        let content = Samples.content(purchases: 1)
        let padded = [0xFF, 0xFF, 0xFF] + content + [0xFF]
        let receipt = try AppReceipt(padded[3..<3 + content.count])
        #expect(Array(receipt.bundleIDOctets) == [0x0C, 15] + Array(Samples.bundleID.utf8))
        #expect(Array(receipt.opaqueValue) == Array(1...16))
        #expect(try receipt.purchases == AppReceipt(content[...]).purchases)
    }

    @Test("reads an attribute alike in every form that BER allows")
    func attributeForms() throws {
        let value: [UInt8] = [0x04, 0x05, 0x0C, 0x03, 0x61, 0x62, 0x63]
        let forms: [[UInt8]] = [
            // The usual form; a type with a needless zero; a version of two octets; a long length of the value's.
            [0x02, 0x02, 0x06, 0xA7, 0x02, 0x01, 0x01] + value,
            [0x02, 0x03, 0x00, 0x06, 0xA7, 0x02, 0x01, 0x01] + value,
            [0x02, 0x02, 0x06, 0xA7, 0x02, 0x02, 0x00, 0x01] + value,
            [0x02, 0x02, 0x06, 0xA7, 0x02, 0x01, 0x01, 0x04, 0x81] + value.dropFirst(),
        ]
        for form in forms {
            let attribute = DERWriter.encode { $0.primitive(.sequence, form) }
            let receipt = try AppReceipt(Samples.set([Samples.purchase([attribute])])[...])
            #expect(receipt.purchases.map { receipt.string($0.transactionID) } == ["abc"])
        }
    }

    @Test("is refused when cut at any byte, and never traps on a changed one")
    func broken() {
        let content = Samples.set(Samples.head() + [Samples.purchase(Samples.subscription(transaction: "1"))])
        for offset in content.indices {
            #expect(throws: FormatFault.self) { try AppReceipt(content.prefix(offset)) }
            for flip in (0..<8).map({ UInt8(1) << $0 }) {
                var changed = content
                changed[offset] ^= flip
                _ = try? AppReceipt(changed[...])
                _ = try? AppReceipt.bundleID(in: changed[...])
            }
        }
    }

    @Test("takes no more than four times its size in memory, with 500 purchases")
    func memory() throws {
        let content = Samples.content(purchases: 500)
        let receipt = try AppReceipt(content[...])
        let entries = receipt.purchases.count * MemoryLayout<ReceiptPurchase>.stride
        let own = receipt.otherAttributes.count * MemoryLayout<ReceiptAttribute>.stride
        // Arrays that grow hold up to twice what is in them.
        #expect(2 * entries + 2 * own < 3 * content.count)
    }

    @Test("keeps no more attributes of its own than the limit, and reads as many of purchases as there are")
    func otherAttributes() throws {
        let many = [[UInt8]](repeating: Samples.number(99, 1), count: AppReceipt.otherAttributesMax)
        #expect(try AppReceipt(Samples.set(many)[...]).otherAttributes.count == many.count)
        #expect {
            try AppReceipt(Samples.set(many + [Samples.number(99, 1)])[...])
        } throws: { ($0 as? FormatFault)?.reason == "too_large" }
        let receipt = try AppReceipt(Samples.set([Samples.purchase(many + [Samples.number(99, 1)])])[...])
        #expect(receipt.purchases.map { receipt.otherAttributes(of: $0).count } == [many.count + 1])
    }

    @Test("reads attributes with lengths of two octets as others", arguments: [0, 1, 0xFE, 0xFF, 0x100, 0x101, 0x200])
    func longAttributes(count: Int) throws {
        func attribute(inner: Int, outer: Int) -> [UInt8] {
            let head: [UInt8] = [0x30, 0x82, UInt8(outer >> 8), UInt8(outer & 0xFF), 2, 1, 99, 2, 1, 3, 4, 0x82]
            return head + [UInt8(inner >> 8), UInt8(inner & 0xFF)] + [UInt8](repeating: 7, count: count)
        }
        let good = attribute(inner: count, outer: count + 10)
        let receipt = try AppReceipt(Samples.set([good])[...])
        #expect(receipt.otherAttributes.map(\.type) == [99])
        #expect(receipt.otherAttributes.map(\.version) == [3])
        #expect(receipt.otherAttributes.map { Array(receipt.value(of: $0)) } == [[UInt8](repeating: 7, count: count)])
        for (inner, outer) in [
            (count + 1, count + 10), (count - 1, count + 10), (count, count + 11), (count, count + 9),
        ] where inner >= 0 {
            #expect(throws: FormatFault.self) {
                try AppReceipt(Samples.set([attribute(inner: inner, outer: outer)])[...])
            }
        }
        // It may not reach beyond a set that ends before the bytes do.
        let open: [UInt8] = [0x31, 0x80] + attribute(inner: count + 2, outer: count + 12) + [0, 0]
        #expect(throws: FormatFault.self) { try AppReceipt(open[...]) }
    }
}

extension ReceiptSamples {
    fileprivate static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
