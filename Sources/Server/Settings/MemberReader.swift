import Encoding

/// Takes checked values out of JSON and collects what is wrong, with the path of each fault.
struct MemberReader {
    let origin: SettingOrigin
    private(set) var faults: [ConfigurationFault] = []

    init(_ origin: SettingOrigin) {
        self.origin = origin
    }

    mutating func fault(_ path: String, _ message: String) {
        faults.append(ConfigurationFault(origin: origin, path: path, message: message))
    }

    /// The text as JSON; a fault tells line and column, and never shows the text.
    mutating func document(_ bytes: [UInt8], at path: String) -> JSONValue? {
        do throws(JSONFault) {
            return try JSONDocument(bytes).root
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
            fault(path, "no strict JSON: \(error.reason.rawValue) at line \(line), column \(column)")
            return nil
        }
    }

    /// The value as an object that has no other members than these.
    mutating func object(_ value: JSONValue, at path: String, known: [String]) -> JSONObject? {
        guard let object = value.object else {
            mistyped(value, at: path, wanted: "an object")
            return nil
        }
        for (key, _) in object.members where !known.contains(key) {
            fault(MemberReader.join(path, key), "unknown" + Suggestion.phrase(for: key, among: known))
        }
        return object
    }

    /// The elements with their paths; none, and a fault, if the value is no array.
    mutating func elements(_ value: JSONValue, at path: String) -> [(path: String, value: JSONValue)] {
        guard let array = value.array else {
            mistyped(value, at: path, wanted: "an array")
            return []
        }
        return array.enumerated().map { ("\(path)[\($0.offset)]", $0.element) }
    }

    mutating func text(_ value: JSONValue, at path: String) -> String? {
        guard let text = value.string else {
            mistyped(value, at: path, wanted: "a string")
            return nil
        }
        return text
    }

    /// A member that must be there.
    mutating func required(_ object: JSONObject, _ key: String, at path: String) -> JSONValue? {
        let value = object[key]
        if value == nil { fault(MemberReader.join(path, key), "missing") }
        return value
    }

    /// A text that `make` turns into a value; `what` says what it must be.
    mutating func identifier<Value>(
        _ value: JSONValue,
        at path: String,
        _ what: String,
        _ make: (String) -> Value?
    ) -> Value? {
        guard let text = text(value, at: path) else { return nil }
        let made = make(text)
        if made == nil { fault(path, "must be \(what)") }
        return made
    }

    /// One of a few words.
    mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue,
        at path: String,
        _ type: Word.Type
    ) -> Word? {
        let names = Word.allCases.map(\.rawValue)
        guard let name = text(value, at: path) else { return nil }
        guard let word = Word(rawValue: name) else {
            fault(path, MemberReader.oneOf(names) + Suggestion.phrase(for: name, among: names))
            return nil
        }
        return word
    }

    mutating func whole(_ value: JSONValue, at path: String, _ range: ClosedRange<Int64>) -> Int64? {
        guard value.kind == .number else {
            mistyped(value, at: path, wanted: "a number")
            return nil
        }
        guard let number = value.int64, range.contains(number) else {
            fault(path, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    static func oneOf(_ names: [String]) -> String { "must be one of " + names.joined(separator: ", ") }

    mutating func bool(_ value: JSONValue, at path: String) -> Bool? {
        if value.bool == nil { mistyped(value, at: path, wanted: "true or false") }
        return value.bool
    }

    mutating func mistyped(_ value: JSONValue, at path: String, wanted: String) {
        let found =
            switch value.kind {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .number: "a number"
            case .boolean: "a boolean"
            case .null: "null"
            }
        fault(path, "must be \(wanted), not \(found)")
    }

    static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
