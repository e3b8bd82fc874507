import Encoding
import PurchaseModel
import Storage

/// Numbers and days of charts as people read them.
enum ChartText {
    static func value(_ value: Int64?, _ unit: ChartName.Unit) -> String {
        guard let value else { return "–" }
        switch unit {
        case .count: return Texts.count(Int(value))
        case .milliunits: return money(value)
        case .basisPoints: return "\(decimal(value, digits: 2, shown: 1)) %"
        }
    }

    /// `12 345.60`: two digits, and no rounding up.
    static func money(_ milliunits: Int64) -> String { decimal(milliunits, digits: 3, shown: 2) }

    /// `first_purchases` is shown as `first purchases`.
    static func words(_ name: String) -> String {
        String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// `2026-11-22`, or `2026-11` for a month.
    static func day(_ day: DayOfTime, _ grain: ChartName.Grain) -> String {
        guard let text = RFC3339.text(milliseconds: day.start.milliseconds) else { return "–" }
        return String(decoding: text.utf8.prefix(grain == .day ? 10 : 7), as: UTF8.self)
    }

    /// Without the year, for under a bar.
    static func label(_ day: DayOfTime, _ grain: ChartName.Grain) -> String {
        let text = self.day(day, grain)
        return grain == .day ? String(decoding: text.utf8.dropFirst(5), as: UTF8.self) : text
    }

    private static func decimal(_ value: Int64, digits: Int, shown: Int) -> String {
        let scale = (0..<digits).reduce(Int64(1)) { all, _ in all * 10 }
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let text = String(rest)
        let fraction = String(repeating: "0", count: digits - text.utf8.count) + text
        let sign = value < 0 ? "−" : ""
        return "\(sign)\(Texts.count(Int(whole))).\(String(decoding: fraction.utf8.prefix(shown), as: UTF8.self))"
    }
}
