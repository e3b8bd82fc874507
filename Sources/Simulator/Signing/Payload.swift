import Encoding

/// A JSON object in the making, its members in order: what is signed in StoreKit 2.
///
/// Members can be set, changed and taken out before signing, so that a test can say what is wrong in one line.
package struct Payload: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int64)
        /// A number as it is to stand in the text, such as `1697680122257.447`.
        case decimal(String)
        case flag(Bool)
        case null
        case object(Payload)
        case list([Value])
    }

    private var members: [(key: String, value: Value)]

    package init() { members = [] }

    /// The member's value; setting `nil` takes it out, setting a new one appends it.
    package subscript(key: String) -> Value? {
        get { place(of: key).map { members[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    package var keys: [String] { members.map(\.key) }

    /// By bytes. Few keys have the same length, so most are not looked at.
    private func place(of key: String) -> Int? {
        members.firstIndex { $0.key.utf8.count == key.utf8.count && $0.key.utf8.elementsEqual(key.utf8) }
    }

    /// The object as text, without blanks.
    package var json: [UInt8] {
        JSONWriter.object(reserving: 1_024) { writer in write(to: &writer) }
    }

    mutating func set(_ key: String, _ text: String?) { if let text { self[key] = .text(text) } }
    mutating func set(_ key: String, _ number: Int64?) { if let number { self[key] = .number(number) } }
    mutating func set(_ key: String, _ flag: Bool?) { if let flag { self[key] = .flag(flag) } }

    private func write(to writer: inout JSONObjectWriter) {
        for (key, value) in members {
            switch value {
            case .text(let text): writer.member(key, text)
            case .number(let number): writer.member(key, number)
            case .decimal(let digits): writer.member(key, Payload.verbatim(digits))
            case .flag(let flag): writer.member(key, flag)
            case .null: writer.null(key)
            case .object(let object): writer.object(key) { object.write(to: &$0) }
            case .list(let values): writer.array(key) { Payload.write(values, to: &$0) }
            }
        }
    }

    private static func write(_ values: [Value], to writer: inout JSONArrayWriter) {
        for value in values {
            switch value {
            case .text(let text): writer.element(text)
            case .number(let number): writer.element(number)
            case .decimal(let digits): writer.element(verbatim(digits))
            case .flag(let flag): writer.element(flag)
            case .null: writer.null()
            case .object(let object): writer.object { object.write(to: &$0) }
            case .list(let values): writer.array { write(values, to: &$0) }
            }
        }
    }

    /// A number in the very digits that were given.
    private static func verbatim(_ digits: String) -> JSONValue? {
        do {
            return try JSONDocument(Array(digits.utf8)).root
        } catch {
            preconditionFailure("\(digits) is no JSON number")
        }
    }

    package static func == (left: Payload, right: Payload) -> Bool {
        left.members.elementsEqual(right.members) { $0.key == $1.key && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        for (key, value) in members {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}
