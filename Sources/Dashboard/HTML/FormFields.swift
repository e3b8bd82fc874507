import Encoding

/// What a form sent, or stands in a query: `application/x-www-form-urlencoded`, read strictly.
///
/// Source: WHATWG URL, § 5.1 *application/x-www-form-urlencoded parsing*; what that would guess at is refused here.
package struct FormFields: Sendable, Equatable {
    /// No form of ours has more.
    private static let fieldsMax = 32

    private let values: [String: String]

    /// `nil` for a field that stands there twice, a crooked percent sign, or what is no UTF-8.
    package init?(_ text: some Collection<UInt8>) {
        var values: [String: String] = [:]
        let pairs = text.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= Self.fieldsMax else { return nil }
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = parts.count == 2 ? Self.decode(parts[1]) : "",
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        self.values = values
    }

    package subscript(name: String) -> String { values[name] ?? "" }

    /// A plus is a space here, unlike in a path.
    private static func decode(_ text: some Collection<UInt8>) -> String? {
        let spaced = text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentCoding.bytes(of: spaced).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
