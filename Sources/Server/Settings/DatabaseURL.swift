/// Where a PostgreSQL database is and who we are there: `postgresql://user:password@host:port/database?…`.
///
/// What is printed of it is neither the password nor the parameters, among which another may stand.
struct DatabaseURL: Equatable, Sendable, CustomStringConvertible {
    static let such =
        "must begin with postgresql:// and be printable ASCII, such as postgresql://assay@db.internal/assay"
    private static let schemes = ["postgresql://", "postgres://"]
    private static let charactersMax = 2_048

    /// All of it. Not for a log.
    let secret: String
    let hasPassword: Bool
    let description: String

    /// What of it is wrong libpq tells when it connects; here it is only told from something else.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.charactersMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = Self.schemes.first(where: { bytes.starts(with: $0.utf8) })
        else { return nil }
        secret = text
        let rest = bytes.dropFirst(scheme.utf8.count)
        let place = rest.prefix { $0 != UInt8(ascii: "?") }
        let authority = place.prefix { $0 != UInt8(ascii: "/") }
        // A password may hold an "@" that nobody encoded.
        let end = authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.startIndex
        let user = authority[..<end].prefix { $0 != UInt8(ascii: ":") }
        hasPassword = user.endIndex < end || Self.contains("password=", rest[place.endIndex...])
        let shown = user + (user.endIndex < end ? Array(":…".utf8) : []) + place[end...]
        description = scheme + String(decoding: shown, as: UTF8.self)
    }

    private static func contains(_ word: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: word.utf8) }
    }
}
