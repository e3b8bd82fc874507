/// Where a PostgreSQL database is and who we are there: `postgresql://user:password@host:port/database?…`.
///
/// What is printed of it is neither the password nor the parameters, among which another may stand. A text that libpq would
/// take otherwise than it is meant is refused here: what libpq says of it shows a part of the password.
struct DatabaseURL: Equatable, Sendable, CustomStringConvertible {
    static let such =
        "must begin with postgresql:// and be printable ASCII, such as postgresql://assay@db.internal:5432/assay; of a user, a "
        + "password and a database's name what is no letter or digit is percent-encoded"
    private static let schemes = ["postgresql://", "postgres://"]
    private static let charactersMax = 2_048

    /// All of it. Not for a log.
    let secret: String
    let hasPassword: Bool
    let description: String

    /// What else of it is wrong libpq tells when it connects.
    ///
    /// - Note: PostgreSQL, libpq's `conninfo_uri_parse_options`: user and password stand before the first `@`, unless a `/`
    ///   stands before it; hosts and ports end at the first `/` or `?` behind it.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.charactersMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = Self.schemes.first(where: { bytes.starts(with: $0.utf8) }), PercentEncoding.isWhole(bytes[...])
        else { return nil }
        secret = text
        let rest = bytes.dropFirst(scheme.utf8.count)
        let at = rest.prefix { $0 != UInt8(ascii: "/") }.firstIndex(of: UInt8(ascii: "@"))
        let user = rest[..<(at ?? rest.startIndex)]
        let others = rest[(at.map { $0 + 1 } ?? rest.startIndex)...]
        let place = others.prefix { $0 != UInt8(ascii: "?") }
        let parameters = others[place.endIndex...].dropFirst()
        let name = user.prefix { $0 != UInt8(ascii: ":") }
        // One more "@" ends a password in which another, or a "/", is not encoded. A "?" is one of the password's letters, but
        // behind what may be hosts the beginning of parameters with an "@" in them.
        let query = user.firstIndex(of: UInt8(ascii: "?"))
        guard query.map({ !Self.areHosts(user[..<$0]) }) ?? true, !place.contains(UInt8(ascii: "@")),
            Self.areHosts(place.prefix { $0 != UInt8(ascii: "/") }), Self.areParameters(parameters)
        else { return nil }
        let hasOwn = name.endIndex < user.endIndex
        hasPassword = hasOwn || Self.contains("password=", parameters)
        let shown = name + Array(((hasOwn ? ":…" : "") + (at == nil ? "" : "@")).utf8) + place
        description = scheme + String(decoding: shown, as: UTF8.self)
    }

    /// Each a name, an address in brackets, a folder or nothing, and perhaps a port: a password whose `@` is missing is none.
    private static func areHosts(_ text: ArraySlice<UInt8>) -> Bool {
        text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy { host in
            var port = host.drop { $0 != UInt8(ascii: ":") }
            if host.first == UInt8(ascii: "[") {
                guard let end = host.firstIndex(of: UInt8(ascii: "]")), end > host.startIndex + 1 else { return false }
                port = host[(end + 1)...]
            }
            let digits = port.dropFirst()
            return (port.isEmpty || port.first == UInt8(ascii: ":")) && digits.count <= 5
                && digits.allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    /// Each a name and a value: what stands behind an `&` in a password is none.
    private static func areParameters(_ text: ArraySlice<UInt8>) -> Bool {
        text.split(separator: UInt8(ascii: "&")).allSatisfy { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return name.endIndex < parameter.endIndex
                && name.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
        }
    }

    private static func contains(_ word: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: word.utf8) }
    }
}
