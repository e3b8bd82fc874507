/// Sends one request and gives the answer, whatever its status.
///
/// Live: ``CurlCaller``. In a test: a closure, often a router itself.
package struct HTTPCaller: Sendable {
    package var send: @Sendable (HTTPCall) async throws(HTTPCallFailure) -> HTTPResponse

    package init(_ send: @escaping @Sendable (HTTPCall) async throws(HTTPCallFailure) -> HTTPResponse) {
        self.send = send
    }

    /// Calls a handler in this process: no socket, the same answer.
    package init(handler: HTTPHandler) {
        self.init { call async throws(HTTPCallFailure) in
            guard call.isSendable else { throw .invalidCall }
            return await handler.respond(call.request)
        }
    }
}

extension HTTPCall {
    /// The call as the server that it is meant for sees it.
    var request: HTTPRequest {
        let letters = Array(url.utf8)
        let rest = letters.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let (path, query) = HTTPRequest.split(target: letters)
        var fields = fields
        if fields["Host"] == nil { fields["Host"] = String(decoding: authority, as: UTF8.self) }
        return HTTPRequest(method: method, path: path, query: query, fields: fields, body: body)
    }
}
