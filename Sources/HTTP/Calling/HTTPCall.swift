/// One request that we send.
package struct HTTPCall: Sendable, Equatable {
    package var method: HTTPMethod
    /// An absolute `http` or `https` URL, in ASCII, without user and fragment.
    package var url: String
    package var fields: HTTPFields
    package var body: [UInt8]
    /// For the whole call, from its turn to the last byte; nil takes the caller's own (``CallerSettings/timeout``).
    package var timeout: Duration?

    package init(
        method: HTTPMethod = .get,
        url: String,
        fields: HTTPFields = [:],
        body: [UInt8] = [],
        timeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }

    /// Whether it may be handed on: nothing in it can end a line or reach another scheme.
    var isSendable: Bool {
        guard HTTPFields.isToken(method.rawValue), fields.isSendable,
            ["Content-Length", "Transfer-Encoding", "Connection"].allSatisfy({ fields[$0] == nil })
        else { return false }
        let letters = Array(url.utf8)
        guard letters.count <= HTTPCall.urlBytesMax, letters.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return false
        }
        return ["http://", "https://"].contains { scheme in
            letters.count > scheme.utf8.count
                && HTTPFields.isSame(String(decoding: letters.prefix(scheme.utf8.count), as: UTF8.self), scheme)
        }
    }

    /// The name in the URL, and the port that is given there or the scheme's; nil for an address in brackets.
    var hostAndPort: (host: String, port: Int)? {
        let letters = Array(url.utf8)
        let authority = letters.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        guard !host.isEmpty, host.first != UInt8(ascii: "[") else { return nil }
        let digits = String(decoding: authority[host.endIndex...].dropFirst(), as: UTF8.self)
        let isSecure = letters.dropFirst(4).first.map { $0 | 0x20 } == UInt8(ascii: "s")
        return (String(decoding: host, as: UTF8.self), Int(digits) ?? (isSecure ? 443 : 80))
    }

    /// What servers take at least, four times over. RFC 9110 § 4.1.
    private static let urlBytesMax = 32_000
}

/// Why there is no answer. An answer with any status is none of these.
package enum HTTPCallFailure: Error, Equatable, Hashable, Sendable {
    /// The method, the URL or a field must not be sent. Trying again is in vain.
    case invalidCall
    /// No address is known for the name.
    case unresolved
    /// Nobody listens at any of its addresses.
    case unreachable
    /// The name leads to addresses that the settings forbid.
    case addressRefused
    case timedOut
    /// The other side has no right certificate, or speaks no TLS that we do.
    case tls
    /// The connection was closed before the first byte.
    case noResponse
    /// The connection ended inside the answer.
    case closedEarly
    /// Sending or receiving failed.
    case connectionLost
    /// What came was no HTTP.
    case malformedResponse
    /// The answer is longer than the settings allow.
    case tooLarge
    case tooManyRedirects
    /// The proxy was not found or did not let us through.
    case proxy
    /// As many calls are waiting as the settings allow.
    case tooManyCalls
    /// The task was cancelled, or the caller is gone.
    case cancelled
    /// The library's own number.
    case other(code: Int)

    /// Whether the same call may do later. Who was cut off has heard nothing, and may ask again.
    package var isRetryable: Bool {
        switch self {
        case .invalidCall, .addressRefused, .tooManyRedirects: false
        default: true
        }
    }
}
