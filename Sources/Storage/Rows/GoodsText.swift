import PurchaseModel

/// What was granted, as a text in a row: a line for each, words with a space between them. No identifier has a space.
///
/// `entitlement premium 1763600000000`, without a number for ever; `amount gems 100 0 0`: granted, taken back, missing.
enum GoodsText {
    static func text(of goods: [GrantedGoods]) -> String {
        let lines = goods.map { goods in
            switch goods {
            case .entitlement(let id, nil): "entitlement \(id)"
            case .entitlement(let id, let until?): "entitlement \(id) \(until.milliseconds)"
            case .amount(let amount):
                "amount \(amount.currency) \(amount.amount) \(amount.reversed) \(amount.uncollected)"
            }
        }
        return lines.joined(separator: "\n")
    }

    /// `nil` for a text that we did not write.
    static func goods(in text: String) -> [GrantedGoods]? {
        var goods: [GrantedGoods] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let read = one(words) else { return nil }
            goods.append(read)
        }
        return goods
    }

    private static func one(_ words: [String]) -> GrantedGoods? {
        switch words.first {
        case "entitlement" where words.count == 2:
            return EntitlementID(words[1]).map { .entitlement($0, until: nil) }
        case "entitlement" where words.count == 3:
            guard let id = EntitlementID(words[1]), let until = Int64(words[2]) else { return nil }
            return .entitlement(id, until: Timestamp(milliseconds: until))
        case "amount" where words.count == 5:
            guard let currency = CurrencyID(words[1]), let amount = Int64(words[2]), let reversed = Int64(words[3]),
                let uncollected = Int64(words[4])
            else { return nil }
            return .amount(
                GrantedAmount(currency: currency, amount: amount, reversed: reversed, uncollected: uncollected)
            )
        default: return nil
        }
    }
}
