import Encoding
import PurchaseModel

/// Values as people read them.
enum Texts {
    /// `2026-11-22 01:46:05`, in UTC.
    static func moment(_ moment: Timestamp) -> HTML {
        guard let text = RFC3339.text(milliseconds: moment.milliseconds) else { return HTML(text: "–") }
        let (day, time) = (text.utf8.prefix(10), text.utf8.dropFirst(11).prefix(8))
        return element("time", .moment(text)) {
            String(decoding: day, as: UTF8.self) + " " + String(decoding: time, as: UTF8.self)
        }
    }

    /// With thousands apart: `12 345`, by narrow spaces that do not break.
    static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude).utf8)
        var text = number < 0 ? "−" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "\u{202F}" }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }
}

extension Texts {
    /// `12.5 %`.
    static func share(_ count: Int, of all: Int) -> String {
        guard all > 0 else { return "–" }
        let tenths = Int(Double(count) / Double(all) * 1_000 + 0.5)
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// The beginning of a long text, by what it takes on the page: no page grows with what somebody sent.
    static func cut(_ text: String, to bytesMax: Int) -> String {
        var (rest, shown) = (bytesMax, String.UnicodeScalarView())
        for scalar in text.unicodeScalars {
            rest -= Escaping.length(scalar)
            guard rest >= 0 else { return String(shown) + "\n…" }
            shown.append(scalar)
        }
        return text
    }

    /// On which side of the wall something stands.
    static func realm(_ realm: Realm) -> String {
        realm.environment.rawValue + (realm.isTestSigned ? ", test-signed" : "")
    }

    /// `4.99 USD`.
    static func price(_ price: Price) -> String {
        let (whole, rest) = price.milliunits.magnitude.quotientAndRemainder(dividingBy: 1_000)
        let digits = String(rest)
        let fraction = String(repeating: "0", count: 3 - digits.utf8.count) + digits
        return "\(price.milliunits < 0 ? "−" : "")\(whole).\(fraction) \(price.currency)"
    }

    /// What was given.
    static func goods(_ goods: GrantedGoods) -> String {
        switch goods {
        case .entitlement(let id, let until):
            let end = until.flatMap { RFC3339.text(milliseconds: $0.milliseconds) }
            return id.text + (end.map { " until \($0)" } ?? " for ever")
        case .amount(let amount):
            let given = "\(amount.amount) \(amount.currency.text)"
            let missing = amount.uncollected > 0 ? ", \(amount.uncollected) to be taken back and not there" : ""
            guard amount.reversed > 0 else { return given + missing }
            return given + ", \(amount.reversed) taken back, \(amount.left) left" + missing
        }
    }

    /// Of thousandths of a percent.
    static func part(_ thousandths: Int) -> String { PercentText.text(thousandths: thousandths) }

    /// How far an order has come, and how much of its payment was taken back where that does not say it.
    static func state(_ order: Order) -> String {
        let part = order.refunded
        return order.state.rawValue + (part > 0 && part < Fulfilment.whole ? ", \(self.part(part)) refunded" : "")
    }

    /// Until when somebody has what was granted by hand.
    static func term(_ row: GrantedEntitlement) -> String {
        if row.isRevoked { return "revoked" }
        return row.until.flatMap { RFC3339.text(milliseconds: $0.milliseconds) } ?? "for ever"
    }

    /// A name and what it says, for a list of facts; nothing when it says nothing.
    @HTMLBuilder static func fact(_ name: String, _ value: String?) -> HTML {
        if let value {
            element("dt") { name }
            element("dd") { element("bdi") { value } }
        }
    }

    @HTMLBuilder static func fact(_ name: String, _ moment: Timestamp?) -> HTML {
        if let moment {
            element("dt") { name }
            element("dd") { self.moment(moment) }
        }
    }
}
