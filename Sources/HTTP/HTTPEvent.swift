/// What happened at the listener, for whoever counts and writes the log.
package enum HTTPEvent: Sendable {
    case accepted(HTTPRemote)
    /// The handler's answer was handed to the kernel, whole.
    case served(HTTPRequestSummary, HTTPStatus, bytes: UInt64, duration: Duration)
    /// A stream is over; `bytes` with the head and what frames the chunks.
    case streamed(HTTPRequestSummary, HTTPStatus, HTTPStreamEnd, bytes: UInt64, duration: Duration)
    /// The handler answered, but the client had left or did not read.
    case unanswered(HTTPRequestSummary, HTTPStatus)
    /// The listener answered by itself.
    case refused(HTTPRefusal, HTTPRemote)
    /// The handler's answer could not be sent as it was (``HTTPResponse``): a fault of ours. The client got a 500.
    case unsendable(HTTPRequestSummary)
    /// No descriptor or memory for another connection; the listener tries again by itself.
    case exhausted(errno: Int32)
}

/// What a log line needs of a request. No query and no fields: they may carry secrets.
package struct HTTPRequestSummary: Sendable, Equatable {
    package let id: UInt64
    package let method: HTTPMethod
    package let path: String
    package let remote: HTTPRemote

    package init(_ request: HTTPRequest) {
        id = request.id
        method = request.method
        path = request.path
        remote = request.remote
    }
}
