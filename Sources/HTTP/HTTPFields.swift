/// Header fields in the order in which they came or were given. Names are compared without regard to case.
///
/// A value that a client sent may hold bytes from 0x80 on (RFC 9110 § 5.5, `obs-text`); each of them becomes the scalar
/// of the same number, so nothing is lost and nothing is guessed. Fields that we send must be ASCII: see ``isSendable``.
package struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var fields: [Field]

    package init(_ fields: [Field] = []) {
        self.fields = fields
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first field's value; setting it replaces every field of that name, and `nil` removes them.
    package subscript(name: String) -> String? {
        get {
            fields.first { HTTPFields.isSame($0.name, name) }?.value
        }
        set {
            fields.removeAll { HTTPFields.isSame($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// The values of all fields of that name, in order.
    package func all(_ name: String) -> [String] {
        fields.filter { HTTPFields.isSame($0.name, name) }.map(\.value)
    }

    /// The value when there is exactly one such field. For what decides about trust: two of them are an attempt.
    package func single(_ name: String) -> String? {
        let values = all(name)
        return values.count == 1 ? values.first : nil
    }

    /// Adds a field after the others, whether or not there is one of that name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether the fields may be sent: each name a token, each value printable ASCII, spaces and tabs inside it.
    ///
    /// CR, LF and NUL would let whoever chose the value write fields or a whole answer of their own.
    package var isSendable: Bool {
        fields.allSatisfy { HTTPFields.isToken($0.name) && HTTPFields.isSendable(value: $0.value) }
    }

    /// RFC 9110 § 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.utf8.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default:
                    HTTPFields.tokenMarks.contains(byte)
                }
            }
    }

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)

    private static func isSendable(value: String) -> Bool {
        value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
    }

    /// Equal as ASCII without regard to case.
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { HTTPFields.lowercased($0) == HTTPFields.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPFields: Sequence {
    package func makeIterator() -> IndexingIterator<[Field]> {
        fields.makeIterator()
    }
}
