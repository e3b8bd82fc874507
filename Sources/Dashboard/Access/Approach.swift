import HTTP

/// How a browser comes here: over TLS by way of a proxy, or over plain HTTP on the machine itself.
enum Approach {
    /// What the machine itself is called there.
    private static let ownHosts = ["127.0.0.1", "localhost", "[::1]"]

    /// Whether the browser came over TLS; `nil` over plain HTTP from elsewhere than the machine itself.
    static func isSecure(_ fields: HTTPFields) -> Bool? {
        guard let origin = fields.single("Origin") else { return nil }
        if isOverTLS(origin) { return true }
        let local = ownHosts.contains { isNamed(origin, "http://\($0)") }
        return local && mayBePlain(fields) ? false : nil
    }

    /// Whether it may have come over plain HTTP: what it asks is this machine, and nothing says that it is a proxy that asks.
    /// A page's request has no `Origin`.
    static func mayBePlain(_ fields: HTTPFields) -> Bool {
        guard let host = fields.single("Host"), ownHosts.contains(where: { isNamed(host, $0) }) else { return false }
        return !fields.all("Origin").contains(where: isOverTLS)
            && !fields.all("X-Forwarded-Proto").contains { $0.utf8.starts(with: "https".utf8) }
    }

    private static func isOverTLS(_ origin: String) -> Bool { origin.utf8.starts(with: "https://".utf8) }

    /// By its name alone, or with a port.
    private static func isNamed(_ text: String, _ name: String) -> Bool {
        text == name || text.utf8.starts(with: "\(name):".utf8)
    }
}
