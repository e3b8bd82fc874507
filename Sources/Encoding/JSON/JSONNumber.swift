/// A JSON number: where it ends, and what it is worth.
enum JSONNumber {
    /// Finds the end of the number that starts at `start` with a minus or a digit.
    static func scan(_ input: Span<UInt8>, from start: Int) throws(JSONFault) -> (end: Int, isInteger: Bool) {
        var at = start
        if input[at] == UInt8(ascii: "-") { at += 1 }
        let firstDigit = at
        at = try digits(input, from: at, numberAt: start)
        if input[firstDigit] == UInt8(ascii: "0"), at > firstDigit + 1 { throw JSONFault(.invalidNumber, at: start) }
        var isInteger = true
        if at < input.count, input[at] == UInt8(ascii: ".") {
            isInteger = false
            at = try digits(input, from: at + 1, numberAt: start)
        }
        if at < input.count, input[at] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            at += 1
            if at < input.count, input[at] == UInt8(ascii: "+") || input[at] == UInt8(ascii: "-") { at += 1 }
            at = try digits(input, from: at, numberAt: start)
        }
        return (at, isInteger)
    }

    /// Steps over digits, of which there must be one.
    private static func digits(_ input: Span<UInt8>, from start: Int, numberAt: Int) throws(JSONFault) -> Int {
        var at = start
        while at < input.count, input[at] &- UInt8(ascii: "0") < 10 { at &+= 1 }
        if at == start {
            throw at < input.count ? JSONFault(.invalidNumber, at: numberAt) : JSONFault(.unexpectedEnd, at: at)
        }
        return at
    }

    /// The value of a number without point and exponent; nil outside of 64 bits.
    static func int64(_ text: ArraySlice<UInt8>) -> Int64? {
        let text = text.span
        let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for index in (isNegative ? 1 : 0)..<text.count {
            let digit = Int64(text[index] &- UInt8(ascii: "0"))
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || sumOverflow { return nil }
            value = sum
        }
        return value
    }

    /// The nearest double; nil where that would be infinite, as for `1e400`.
    static func double(_ text: ArraySlice<UInt8>) -> Double? {
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }
}
