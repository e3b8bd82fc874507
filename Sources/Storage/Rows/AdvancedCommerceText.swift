import PurchaseModel

/// What was bought through Advanced Commerce, as a text in a row: a line for each item, words with a space between them.
///
/// `4990 1763600000000 FULL:4990:1763600000000,CUSTOM:10:- channel.a`: the price, when it was taken back, its refunds (type,
/// amount, moment), its SKU, which may have spaces; `-` for what there is none of.
enum AdvancedCommerceText {
    static func text(of goods: AdvancedCommerce) -> String {
        goods.items.map { item in
            let refunds = item.refunds.map { "\($0.type ?? "-"):\(text($0.milliunits)):\(text($0.at?.milliseconds))" }
            let list = refunds.isEmpty ? "-" : refunds.joined(separator: ",")
            return "\(text(item.milliunits)) \(text(item.revokedAt?.milliseconds)) \(list) \(item.sku)"
        }.joined(separator: "\n")
    }

    /// `nil` for a text that we did not write.
    static func goods(in text: String) -> AdvancedCommerce? {
        var items: [AdvancedCommerce.Item] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 4, let price = number(words[0]), let revoked = number(words[1]),
                let refunds = refunds(words[2])
            else { return nil }
            items.append(
                AdvancedCommerce.Item(
                    sku: words[3],
                    milliunits: price,
                    revokedAt: revoked.map(Timestamp.init(milliseconds:)),
                    refunds: refunds
                )
            )
        }
        return AdvancedCommerce(items: items)
    }

    private static func refunds(_ text: String) -> [AdvancedCommerce.Refund]? {
        if text == "-" { return [] }
        var refunds: [AdvancedCommerce.Refund] = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            let words = part.split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, let amount = number(words[1]), let at = number(words[2]) else { return nil }
            refunds.append(
                AdvancedCommerce.Refund(
                    type: words[0] == "-" ? nil : words[0],
                    milliunits: amount,
                    at: at.map(Timestamp.init(milliseconds:))
                )
            )
        }
        return refunds
    }

    private static func text(_ number: Int64?) -> String { number.map { String($0) } ?? "-" }

    /// Twice optional: there is none, or it cannot be read.
    private static func number(_ word: String) -> Int64?? {
        if word == "-" { return .some(nil) }
        return Int64(word).map(Optional.some)
    }
}
