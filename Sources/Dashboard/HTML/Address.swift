import Encoding

/// A place on this dashboard: a path of ours, and parameters that are percent-encoded.
package struct Address: Hashable, Sendable {
    static let root: StaticString = "/dashboard"

    let text: String

    /// - Parameters:
    ///   - path: below the dashboard's own, with its slash; empty for its first page.
    ///   - parameters: those without a value are left out.
    init(_ path: StaticString, _ parameters: [(name: String, value: String?)] = []) {
        let given = parameters.compactMap { parameter in
            parameter.value.map { (name: parameter.name, value: $0) }
        }
        text = Self.root.description + path.description + PercentCoding.query(given)
    }

    /// Whether a path as it was sent is the dashboard's first page or below it.
    static func isBelowRoot(_ path: String) -> Bool {
        let root = Array(root.description.utf8)
        let bytes = Array(path.utf8)
        return bytes == root || bytes.starts(with: root + [UInt8(ascii: "/")])
    }

    /// A place that a browser was sent away from, to return to: only what lies on the dashboard.
    init?(returning text: String) {
        let root = Array(Self.root.description.utf8)
        let bytes = Array(text.utf8)
        guard bytes.starts(with: root), bytes.count <= 2_048,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            bytes.count == root.count || [UInt8(ascii: "/"), UInt8(ascii: "?")].contains(bytes[root.count]),
            !Self.goesUp(text)
        else { return nil }
        self.text = text
    }

    /// Whether a browser would leave the dashboard on the way, by two full stops in any spelling.
    private static func goesUp(_ text: String) -> Bool {
        let path = text.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
        return path.split(separator: "/").contains("..")
    }
}
