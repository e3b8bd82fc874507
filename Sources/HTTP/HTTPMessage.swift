import Synchronization

/// What a client asked for.
package struct HTTPRequest: Sendable {
    /// A number for this request, given in order of arrival: unique as long as its listener lives.
    package var id: UInt64
    package var method: HTTPMethod
    /// The request target's path as it was sent, still percent-encoded: `/` and more, or `*`. ASCII.
    package var path: String
    /// What followed the first `?`, without it, as it was sent; `nil` when there was none.
    package var query: String?
    package var fields: HTTPFields
    private var held: HTTPBody?
    /// Who holds the other end of the connection: the proxy, when there is one.
    package var remote: HTTPRemote

    package init(
        id: UInt64 = 0,
        method: HTTPMethod,
        path: String,
        query: String? = nil,
        fields: HTTPFields = [:],
        body: [UInt8] = [],
        remote: HTTPRemote = .none
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        held = body.isEmpty ? nil : HTTPBody(body)
        self.remote = remote
    }

    package var body: [UInt8] {
        get { held?.bytes.withLock(\.self) ?? [] }
        set { held = newValue.isEmpty ? nil : HTTPBody(newValue) }
    }

    /// Takes the body away, from all copies of this request.
    ///
    /// A request is held by whoever hands it on until it is answered. What is read of a large body is large itself, and often
    /// all that is needed of it.
    package func takeBody() -> [UInt8] {
        held?.bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes
        } ?? []
    }

    /// Splits a request target into path and query. Of a whole address (`http://host/path`) the host is dropped:
    /// we answer for one host only. RFC 9112 § 3.2.
    package static func split(target: some Collection<UInt8>) -> (path: String, query: String?) {
        var rest = target[...]
        if rest.first != UInt8(ascii: "/"), let scheme = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[rest.index(after: scheme)...].drop { $0 == UInt8(ascii: "/") }
            rest = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        let query = rest.dropFirst(path.count)
        return (
            path.isEmpty ? "/" : String(decoding: path, as: UTF8.self),
            query.isEmpty ? nil : String(decoding: query.dropFirst(), as: UTF8.self)
        )
    }
}

/// The bytes of a request's body, as all copies of the request share them.
private final class HTTPBody: Sendable {
    let bytes: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }
}

/// A request's method. Case matters; one that we do not know is kept. RFC 9110 § 9.1.
package struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let get = HTTPMethod(rawValue: "GET")
    package static let head = HTTPMethod(rawValue: "HEAD")
    package static let post = HTTPMethod(rawValue: "POST")
    package static let put = HTTPMethod(rawValue: "PUT")
    package static let patch = HTTPMethod(rawValue: "PATCH")
    package static let delete = HTTPMethod(rawValue: "DELETE")
    package static let options = HTTPMethod(rawValue: "OPTIONS")

    package var description: String { rawValue }
}

/// What we answer.
///
/// The listener adds Date (unless it is there), Content-Length or Transfer-Encoding, and Connection; an answer that sets one
/// of the last three, or a field that must not be sent (``HTTPFields/isSendable``), is replaced by a 500 and reported.
package struct HTTPResponse: Sendable, Equatable {
    package var status: HTTPStatus
    package var fields: HTTPFields
    package var body: [UInt8]
    /// What is sent instead of ``body``; not with a status that allows no body.
    package var stream: HTTPStream?
    /// Who answered a call of ours; `.none` when it came through no socket.
    package var remote = HTTPRemote.none

    package init(_ status: HTTPStatus, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    package init(_ status: HTTPStatus, fields: HTTPFields = [:], stream: HTTPStream) {
        self.init(status, fields: fields)
        self.stream = stream
    }

    /// No answer: the connection is reset. For who plays a broken server; its status is no code.
    package static let hangUp = HTTPResponse(HTTPStatus(rawValue: 0))
}

/// A status code, 200 to 599: interim answers are the listener's. RFC 9110 § 15.
package struct HTTPStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let ok = HTTPStatus(rawValue: 200)
    package static let created = HTTPStatus(rawValue: 201)
    package static let accepted = HTTPStatus(rawValue: 202)
    package static let noContent = HTTPStatus(rawValue: 204)
    package static let seeOther = HTTPStatus(rawValue: 303)
    package static let notModified = HTTPStatus(rawValue: 304)
    package static let badRequest = HTTPStatus(rawValue: 400)
    package static let unauthorized = HTTPStatus(rawValue: 401)
    package static let forbidden = HTTPStatus(rawValue: 403)
    package static let notFound = HTTPStatus(rawValue: 404)
    package static let methodNotAllowed = HTTPStatus(rawValue: 405)
    package static let requestTimeout = HTTPStatus(rawValue: 408)
    package static let conflict = HTTPStatus(rawValue: 409)
    package static let contentTooLarge = HTTPStatus(rawValue: 413)
    package static let targetTooLong = HTTPStatus(rawValue: 414)
    package static let unsupportedMediaType = HTTPStatus(rawValue: 415)
    package static let expectationFailed = HTTPStatus(rawValue: 417)
    package static let unprocessableContent = HTTPStatus(rawValue: 422)
    package static let tooManyRequests = HTTPStatus(rawValue: 429)
    package static let headerTooLarge = HTTPStatus(rawValue: 431)
    package static let internalServerError = HTTPStatus(rawValue: 500)
    package static let serviceUnavailable = HTTPStatus(rawValue: 503)
    package static let versionNotSupported = HTTPStatus(rawValue: 505)

    package var description: String { String(rawValue) }

    /// Whether the same request may do later: it came too slowly, there was too much, or the fault is ours.
    package var isRetryable: Bool {
        switch self {
        case .requestTimeout, .tooManyRequests: true
        case .versionNotSupported: false
        default: rawValue >= 500
        }
    }

    /// The phrase that RFC 9110 § 15 gives the code; empty for a code that it does not name.
    package var phrase: String {
        HTTPStatus.phrases[rawValue] ?? ""
    }

    private static let phrases: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 417: "Expectation Failed", 422: "Unprocessable Content",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
