import Encoding

/// Reads one object of verifyReceipt's answers, which hold the same thing now as text, now as number.
///
/// It notes which members were asked for; the rest is what Apple added. A value that cannot be what it stands for is
/// refused, `null` and the empty text count as absent.
struct AnswerReader {
    /// More transactions than any answer has; Apple cuts the longest histories far below.
    static let elementsMax = 20_000
    /// A transaction has 400 bytes and more. A long list of shorter ones costs more than it can be worth.
    static let elementBytesMin = 48

    private let object: JSONObject
    /// Where the members stand that were asked for and found.
    private var found: [Int] = []

    init(_ object: JSONObject) {
        self.object = object
    }

    init(_ value: JSONValue, _ field: String) throws(FormatFault) {
        guard let object = value.object else { throw .wrongType(field: field) }
        self.init(object)
    }

    func has(_ name: String) -> Bool { object[name] != nil }

    mutating func value(_ name: String) -> JSONValue? {
        guard let value = object[name] else { return nil }
        found.append(value.offset)
        return value.isNull ? nil : value
    }

    /// A text, or a number as the text that it was written with.
    mutating func text(_ name: String) throws(FormatFault) -> String? {
        guard let value = value(name) else { return nil }
        if let string = value.string { return string.isEmpty ? nil : string }
        guard value.kind == .number else { throw .wrongType(field: name) }
        if let whole = value.int64 { return String(whole) }
        return String(decoding: value.raw, as: UTF8.self)
    }

    /// A whole number, or a text of digits.
    mutating func number(_ name: String) throws(FormatFault) -> Int64? {
        guard let value = value(name) else { return nil }
        if let string = value.string {
            guard !string.isEmpty else { return nil }
            guard let number = Int64(string) else { throw .invalidValue(field: name) }
            return number
        }
        if let bool = value.bool { return bool ? 1 : 0 }
        return try value.number(name)
    }

    /// `true`, `"true"`, `1` and `"1"`, and their opposites.
    mutating func flag(_ name: String) throws(FormatFault) -> Bool? {
        guard let value = value(name) else { return nil }
        if let bool = value.bool { return bool }
        switch value.string ?? value.int64.map({ String($0) }) {
        case "true", "1": return true
        case "false", "0": return false
        case "": return nil
        case nil: throw .wrongType(field: name)
        default: throw .invalidValue(field: name)
        }
    }

    /// A moment out of the three members that tell it: `name_ms`, else `name`, else `name_formatted`.
    ///
    /// In iOS 6 answers `expires_date` itself holds milliseconds.
    mutating func moment(_ name: String) throws(FormatFault) -> Int64? {
        guard object.count > 0 else { return nil }
        for suffix in ["_pst", "_formatted_pst"] { _ = value(name + suffix) }
        let candidates = [name + "_ms", name, name + "_formatted"]
        let values = candidates.map { value($0) }
        for (candidate, value) in zip(candidates, values) {
            guard let value else { continue }
            if let milliseconds = value.milliseconds { return milliseconds }
            guard let string = value.string else { throw .wrongType(field: candidate) }
            guard !string.isEmpty else { continue }
            guard let milliseconds = Int64(string) ?? AppleDate.milliseconds(string) else {
                throw .invalidValue(field: candidate)
            }
            return milliseconds
        }
        return nil
    }

    /// The elements of an array of objects; empty when absent.
    mutating func elements(_ name: String) throws(FormatFault) -> [AnswerReader] {
        guard let value = value(name) else { return [] }
        guard let array = value.array else { throw .wrongType(field: name) }
        guard array.count <= Self.elementsMax, array.count <= 16 + value.raw.count / Self.elementBytesMin else {
            throw .tooLarge(at: value.offset)
        }
        var elements: [AnswerReader] = []
        elements.reserveCapacity(array.count)
        for element in array {
            elements.append(try AnswerReader(element, name))
        }
        return elements
    }

    /// The elements of an array of objects, or the one object that stands alone.
    mutating func elementsOrOne(_ name: String) throws(FormatFault) -> [AnswerReader] {
        guard let value = value(name), value.object != nil else { return try elements(name) }
        return [try AnswerReader(value, name)]
    }

    mutating func element(_ name: String) throws(FormatFault) -> AnswerReader? {
        guard let value = value(name) else { return nil }
        return try AnswerReader(value, name)
    }

    /// The members that nobody asked for.
    func others() throws(FormatFault) -> [RawMember] {
        var others: [RawMember] = []
        try object.forEachMember { name, value throws(FormatFault) in
            if !found.contains(value.offset) { try others.add(name, value) }
        }
        return others
    }
}
