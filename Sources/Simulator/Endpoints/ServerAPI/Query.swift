import Encoding

/// A request's query: names that may come several times.
struct Query: Sendable {
    /// A value that is not UTF-8, or has a crooked `%`, is nil.
    private let pairs: [(name: String, value: String?)]

    init(_ text: String?) {
        let parts = (text ?? "").utf8.split(separator: UInt8(ascii: "&"))
        pairs = parts.compactMap { part in
            let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides.first.flatMap(Query.decode) else { return nil }
            return (name, sides.count == 2 ? Query.decode(sides[1]) : "")
        }
    }

    /// All values of that name, in order.
    func all(_ name: String, else fault: ServerAPIError) throws(ServerAPIError) -> [String] {
        var values: [String] = []
        for pair in pairs where pair.name.utf8.elementsEqual(name.utf8) {
            guard let value = pair.value else { throw fault }
            values.append(value)
        }
        return values
    }

    /// The value of a name that may come once.
    func one(_ name: String, else fault: ServerAPIError) throws(ServerAPIError) -> String? {
        let values = try all(name, else: fault)
        guard values.count <= 1 else { throw fault }
        return values.first
    }

    /// In either case: Apple's Python library writes `False`.
    func flag(_ name: String, else fault: ServerAPIError) throws(ServerAPIError) -> Bool? {
        guard let text = try one(name, else: fault) else { return nil }
        let letters = text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if letters.elementsEqual("true".utf8) { return true }
        if letters.elementsEqual("false".utf8) { return false }
        throw fault
    }

    /// Milliseconds since 1970, in digits.
    func milliseconds(_ name: String, else fault: ServerAPIError) throws(ServerAPIError) -> Int64? {
        guard let text = try one(name, else: fault) else { return nil }
        guard let first = text.utf8.first, first != UInt8(ascii: "+"), let number = Int64(text), number >= 0 else {
            throw fault
        }
        return number
    }

    /// `application/x-www-form-urlencoded`: `+` is a space.
    private static func decode(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                    let low = rest.popFirst().flatMap(Hexadecimal.value)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
