import Encoding
import HTTP
import PurchaseModel

/// Takes the members of one JSON object, each once, and refuses those that nobody asked for: a typing mistake must not
/// silently change a story.
struct StoryMembers {
    private let object: JSONObject
    private var left: Set<String>

    init(_ value: JSONValue) throws(StoryFault) {
        guard let object = value.object else { throw StoryFault("", "must be an object") }
        self.object = object
        left = Set(object.members.map(\.key))
    }

    /// The last call: whatever is left is unknown.
    func finish() throws(StoryFault) {
        if let name = left.min() { throw StoryFault(name, "there is no such member here") }
    }

    /// The member's value; nil when it is absent or null.
    mutating func value(_ name: String) -> JSONValue? {
        left.remove(name)
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    mutating func text(_ name: String) throws(StoryFault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw StoryFault(name, "must be a text") }
        return text
    }

    mutating func flag(_ name: String) throws(StoryFault) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.bool else { throw StoryFault(name, "must be true or false") }
        return flag
    }

    mutating func number(_ name: String, _ range: ClosedRange<Int64>) throws(StoryFault) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let number = value.int64, range.contains(number) else {
            throw StoryFault(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func elements(_ name: String) throws(StoryFault) -> [JSONValue]? {
        guard let value = value(name) else { return nil }
        guard let array = value.array else { throw StoryFault(name, "must be a list") }
        return Array(array)
    }

    mutating func texts(_ name: String) throws(StoryFault) -> [String]? {
        guard let elements = try elements(name) else { return nil }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else { throw StoryFault("\(name)[\(index)]", "must be a text") }
            texts.append(text)
        }
        return texts
    }

    mutating func required<Value>(_ name: String, _ value: Value?) throws(StoryFault) -> Value {
        guard let value else { throw StoryFault(name, "is missing") }
        return value
    }

    /// A text that `make` turns into a value.
    mutating func made<Value>(
        _ name: String,
        _ what: String,
        _ make: (String) -> Value?
    ) throws(StoryFault) -> Value? {
        guard let text = try text(name) else { return nil }
        guard let value = make(text) else { throw StoryFault(name, "must be \(what)") }
        return value
    }

    /// Where something can be posted to.
    mutating func url(_ name: String) throws(StoryFault) -> String? {
        try made(name, "an http or https URL with a host, without user and fragment") { text in
            EgressRule.canCall(text) ? text : nil
        }
    }

    /// A moment that a store's time can have.
    mutating func moment(_ name: String) throws(StoryFault) -> Timestamp? {
        try made(name, "a moment like 2026-01-01T00:00:00Z, from 2000 to 8999") { text in
            RFC3339.milliseconds(text).map(Timestamp.init(milliseconds:)).flatMap { moment in
                StoreTime.range.contains(moment) ? moment : nil
            }
        }
    }

    mutating func environment(_ name: String = "environment") throws(StoryFault) -> StoreEnvironment? {
        try made(name, "production or sandbox") { $0 == "production" ? .production : $0 == "sandbox" ? .sandbox : nil }
    }
}
