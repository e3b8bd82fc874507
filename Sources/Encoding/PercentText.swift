/// Parts of a whole, for people.
package enum PercentText {
    /// Thousandths of a percent: `40 %`, `67.932 %`.
    package static func text(thousandths: Int) -> String {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
        let digits = String(rest)
        var fraction = String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
        while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
        return (fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)") + " %"
    }
}
