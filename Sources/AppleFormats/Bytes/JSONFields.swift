package import Encoding

/// Reads a member of one of Apple's JSON objects as what Apple says it is.
///
/// `null` counts as absent. A value of another type is refused by the field's name: what Apple signs never has one.
extension JSONValue {
    func text(_ field: String) throws(FormatFault) -> String? {
        if let string { return string }
        guard isNull else { throw .wrongType(field: field) }
        return nil
    }

    /// A text out of a list. A known one is not made a string of its own.
    func word<Word: OpenValue>(_ field: String, among known: [Word]) throws(FormatFault) -> Word?
    where Word.RawValue == String {
        for word in known where says(word.rawValue) { return word }
        return try text(field).map { Word(rawValue: $0) }
    }

    func number(_ field: String) throws(FormatFault) -> Int64? {
        if let int64 { return int64 }
        if isNull { return nil }
        // Other stacks write whole numbers as 1.0 or 1e3.
        guard kind == .number else { throw .wrongType(field: field) }
        guard let double, let whole = Int64(exactly: double) else { throw .invalidValue(field: field) }
        return whole
    }

    /// Milliseconds since 1970; Xcode's fractions are cut off.
    func moment(_ field: String) throws(FormatFault) -> Int64? {
        if let milliseconds { return milliseconds }
        if isNull { return nil }
        throw kind == .number ? .invalidValue(field: field) : .wrongType(field: field)
    }

    func flag(_ field: String) throws(FormatFault) -> Bool? {
        if let bool { return bool }
        guard isNull else { throw .wrongType(field: field) }
        return nil
    }

    func texts(_ field: String) throws(FormatFault) -> [String]? {
        if isNull { return nil }
        guard let array else { throw .wrongType(field: field) }
        var texts: [String] = []
        texts.reserveCapacity(array.count)
        for element in array {
            guard let text = element.string else { throw .wrongType(field: field) }
            texts.append(text)
        }
        return texts
    }

    func members(_ field: String) throws(FormatFault) -> JSONObject? {
        if let object { return object }
        guard isNull else { throw .wrongType(field: field) }
        return nil
    }
}

/// A member that no field was made of: Apple added it, or it is rare. Its value stays JSON text.
package struct RawMember: Hashable, Sendable {
    package let name: String
    package let json: [UInt8]

    package init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }

    init(_ name: String, _ value: JSONValue) {
        self.name = name
        json = Array(value.raw)
    }
}

extension [RawMember] {
    /// Far more than Apple will ever add to one object.
    private static let countMax = 512

    mutating func add(_ name: JSONName, _ value: JSONValue) throws(FormatFault) {
        guard count < Self.countMax else { throw .tooLarge(at: value.offset) }
        append(RawMember(name.text, value))
    }
}

extension JSONDocument {
    /// The object that the text must be.
    func members() throws(FormatFault) -> JSONObject {
        guard let object = root.object else { throw .wrongType(field: "object") }
        return object
    }

    /// Opens one of Apple's texts.
    package static func ofApple(_ bytes: [UInt8]) throws(FormatFault) -> JSONDocument {
        do throws(JSONFault) {
            return try JSONDocument(bytes)
        } catch {
            throw .invalidJSON(error)
        }
    }
}
