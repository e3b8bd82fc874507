import HTTP

/// The cookies that are ours: each a token of 256 bits that nobody can guess.
enum Cookie {
    /// Over TLS. The prefix has the browser see to it that only this host sets it, and only over TLS.
    static let secureName = "__Host-assay"
    /// Over plain HTTP, which is for the machine itself.
    static let plainName = "assay"
    /// What ties the form of somebody who is not signed in to the browser that it was sent to.
    static let visitorName = "assay_visitor"

    /// The token under one of these names, the first that has one.
    static func token(in fields: HTTPFields, _ names: [String]) -> Token? {
        let pairs = fields.all("Cookie").flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
        for name in names {
            let start = Array(name.utf8) + [UInt8(ascii: "=")]
            for pair in pairs {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                guard pair.starts(with: start) else { continue }
                if let token = Token(pair.dropFirst(start.count)) { return token }
            }
        }
        return nil
    }

    /// Over TLS the name with the prefix alone: any other one may have been put there by another host of the domain, or by
    /// whoever answered for this one over plain HTTP.
    static func session(in fields: HTTPFields) -> Token? {
        token(in: fields, Approach.mayBePlain(fields) ? [secureName, plainName] : [secureName])
    }

    static func visitor(in fields: HTTPFields) -> Token? { token(in: fields, [visitorName]) }

    /// - Parameters:
    ///   - token: what it holds.
    ///   - isSecure: whether the browser came over TLS.
    ///   - days: how long the browser is to keep it. An ended session's still tells the browser from a stranger's.
    /// - Returns: the value of `Set-Cookie`.
    static func session(_ token: Token, isSecure: Bool, days: Int) -> String {
        let age = "; Max-Age=\(days * 86_400)"
        let start = isSecure ? "\(secureName)=\(token.text); Secure" : "\(plainName)=\(token.text)"
        return "\(start); HttpOnly; SameSite=Strict; Path=/\(age)"
    }

    static func visitor(_ token: Token) -> String {
        "\(visitorName)=\(token.text); HttpOnly; SameSite=Strict; Path=\(Address.root)"
    }
}
