/// Where an HTTP proxy is and who we are there: `http://user:password@host:port`.
///
/// What is printed of it is without the password.
struct ProxyURL: Equatable, Sendable, CustomStringConvertible {
    static let such =
        "must be http:// or https://, a host and perhaps a port, such as http://proxy.internal:3128; of a user and a password "
        + "what is no letter or digit is percent-encoded"
    private static let schemes = ["http://", "https://"]
    private static let charactersMax = 2_048

    /// All of it. Not for a log.
    let secret: String
    let hasPassword: Bool
    let description: String

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.charactersMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = Self.schemes.first(where: { bytes.starts(with: $0.utf8) })
        else { return nil }
        var authority = bytes.dropFirst(scheme.utf8.count)
        if authority.last == UInt8(ascii: "/") { authority.removeLast() }
        guard !authority.contains(where: { "/?#\\".utf8.contains($0) }) else { return nil }
        let parts = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let place = parts.last, Self.isPlace(place) else { return nil }
        let user = parts.dropLast().flatMap { $0.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) }
        guard user.count <= 2, user.first?.isEmpty != true, user.allSatisfy(PercentEncoding.isWhole) else { return nil }
        secret = text
        hasPassword = user.count == 2
        let shown = user.first.map { Array($0) + Array((user.count == 2 ? ":…@" : "@").utf8) } ?? []
        description = scheme + String(decoding: shown + place, as: UTF8.self)
    }

    /// A host, or an address in brackets, and perhaps a port.
    private static func isPlace(_ place: ArraySlice<UInt8>) -> Bool {
        var rest = place
        if place.first == UInt8(ascii: "[") {
            guard let end = place.firstIndex(of: UInt8(ascii: "]")), end > place.startIndex + 1 else { return false }
            rest = place[(end + 1)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return false }
        } else {
            let host = place.prefix { $0 != UInt8(ascii: ":") }
            let isName = !host.contains { "[]%".utf8.contains($0) }
            guard (1...253).contains(host.count), isName else { return false }
            rest = place[host.endIndex...]
        }
        guard !rest.isEmpty else { return true }
        let port = rest.dropFirst()
        guard (1...5).contains(port.count), port.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return (1...65_535).contains(port.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
}
