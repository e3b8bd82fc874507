import Encoding

/// How one purchase of a receipt is written, to read another that is written alike at one glance.
///
/// Apple writes the purchases of a receipt by one pattern: of 473 in 21 real receipts all but 37 have the same attributes as
/// one before them, of the same lengths in the same order. Where all octets but those of values are the same the values
/// stand in the same places.
/// Values themselves are read and checked as ever; see ``ReceiptPurchase/take(_:as:in:)``. A class, so that a receipt's few
/// layouts are not copied for each purchase.
final class PurchaseLayout: Sendable {
    /// The purchase that was read attribute by attribute. What is part of the form is taken from it.
    private let example: ReceiptPurchase
    /// For each of the example's octets all ones where another's must be the same, zero where a value's own stand.
    private let form: [UInt8]
    private let values: [Value]

    /// What is to be read in each.
    private struct Value {
        var number: Int32
        var field: StaticString
        var tag: DERTag
        /// By its distance from the purchase's beginning.
        var content: Range<Int>
    }

    /// In octets: real purchases have 400 to 500.
    private static let size = ByteSearch.blockSize...4_096

    /// Takes over a purchase's layout; nil when it is not worth it.
    init?(of example: ReceiptPurchase, in span: Span<UInt8>) {
        let place = example.place
        guard Self.size.contains(place.count), var attributes = example.attributes(in: span) else { return nil }
        var form = [UInt8](repeating: .max, count: place.count)
        var values: [Value] = []
        while let attribute = try? attributes.next(in: span) {
            let varying: Range<Int>
            if let field = ReceiptPurchase.field(of: attribute.type) {
                guard let value = try? attribute.element(field, in: span) else { return nil }
                // A number of one octet says what kind of purchase it is, and nothing of which.
                if value.content.isEmpty || (value.tag == .integer && value.content.count == 1) { continue }
                varying = value.content
                values.append(
                    Value(
                        number: attribute.type,
                        field: field,
                        tag: value.tag,
                        content: varying.lowerBound - place.lowerBound..<varying.upperBound - place.lowerBound
                    )
                )
            } else {
                varying = attribute.value
            }
            for octet in varying { form[octet - place.lowerBound] = 0 }
        }
        self.example = example
        self.form = form
        self.values = values
    }

    /// Adds the purchase at a place; false when it is written otherwise.
    func read(
        _ place: Range<Int>,
        in span: Span<UInt8>,
        to purchases: inout [ReceiptPurchase]
    ) throws(FormatFault) -> Bool {
        let (form, values) = (form, values)
        let (octets, model) = (span.extracting(place), span.extracting(example.place))
        guard ByteSearch.areEqual(model, octets, where: form.span) else { return false }
        // Changed where it lies: to change it elsewhere and move it takes longer than to read the values.
        purchases.append(example)
        var all = purchases.mutableSpan
        let last = all.count - 1
        all[last].move(to: place)
        // What was read of the example holds for the same octets here; of a text, too, whose place is the example's then.
        for value in values
        where !ByteSearch.areEqual(octets.extracting(value.content), model.extracting(value.content)) {
            let content = place.lowerBound + value.content.lowerBound..<place.lowerBound + value.content.upperBound
            let element = ReceiptValue(field: value.field, tag: value.tag, content: content)
            try all[last].take(element, as: value.number, in: span)
        }
        return true
    }
}

/// The layouts of one receipt's purchases.
struct PurchaseLayouts {
    /// Real receipts have one to five.
    private static let layoutsMax = 8

    private var layouts: [PurchaseLayout] = []
    /// The last one that was read attribute by attribute. A layout is made of it only if the next one is as long.
    private var example: ReceiptPurchase?

    /// Adds the purchase at a place; false when none before it was written alike.
    mutating func read(
        _ place: Range<Int>,
        in span: Span<UInt8>,
        to purchases: inout [ReceiptPurchase]
    ) throws(FormatFault) -> Bool {
        if try readByKnown(place, in: span, to: &purchases) { return true }
        guard let example = example.take(), example.place.count == place.count, layouts.count < Self.layoutsMax else {
            return false
        }
        guard let layout = PurchaseLayout(of: example, in: span) else { return false }
        layouts.append(layout)
        return try layout.read(place, in: span, to: &purchases)
    }

    private func readByKnown(
        _ place: Range<Int>,
        in span: Span<UInt8>,
        to purchases: inout [ReceiptPurchase]
    ) throws(FormatFault) -> Bool {
        let layouts = layouts.span
        for index in layouts.indices where try layouts[index].read(place, in: span, to: &purchases) { return true }
        return false
    }

    /// Keeps a purchase that was read attribute by attribute.
    mutating func note(_ example: ReceiptPurchase) {
        self.example = example
    }
}
