/// Why the listener answered a request by itself, without asking the handler.
///
/// The answer's body is a problem (RFC 9457) with the raw value as its `code`; the codes are kept, clients may read them.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    case requestLine = "malformed_request_line"
    case target = "malformed_target"
    case version = "http_version_not_supported"
    case field = "malformed_header"
    case host = "malformed_host"
    /// Content-Length is no length, or there are several, or Transfer-Encoding stands beside it or came with HTTP/1.0.
    case bodyLength = "ambiguous_body_length"
    /// Transfer-Encoding is anything but `chunked`.
    case transferCoding = "transfer_coding_not_supported"
    case chunk = "malformed_chunk"
    case expectation = "expectation_failed"
    case targetTooLong = "target_too_long"
    case headerTooLarge = "header_too_large"
    case bodyTooLarge = "body_too_large"
    case headerTooSlow = "header_too_slow"
    case bodyTooSlow = "body_too_slow"
    /// As many requests are being handled as the limits allow.
    case tooManyRequests = "too_many_requests_in_flight"
    case tooManyConnections = "too_many_connections"
    /// All requests being read and handled hold as many bytes as the limits allow.
    case tooManyBytes = "too_many_bytes_in_flight"
    /// As many answers are streams as the limits allow.
    case tooManyStreams = "too_many_streams"

    package var status: HTTPStatus {
        switch self {
        case .requestLine, .target, .field, .host, .bodyLength, .transferCoding, .chunk: .badRequest
        case .version: .versionNotSupported
        case .expectation: .expectationFailed
        case .targetTooLong: .targetTooLong
        case .headerTooLarge: .headerTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .headerTooSlow, .bodyTooSlow: .requestTimeout
        case .tooManyRequests, .tooManyConnections, .tooManyBytes, .tooManyStreams: .serviceUnavailable
        }
    }

    /// What the client is told.
    package var response: HTTPResponse {
        var fields: HTTPFields = [:]
        // A slow request may have had a slow network, and do on another day.
        if status == .serviceUnavailable || status == .requestTimeout { fields["Retry-After"] = "1" }
        // Streams end seldom.
        if self == .tooManyStreams { fields["Retry-After"] = "10" }
        return .problem(status, code: rawValue, fields: fields)
    }
}

extension HTTPResponse {
    /// A problem (RFC 9457) with nothing but its status, a stable code and whether to try again: exactly when there is
    /// a Retry-After. `code` is ours: letters, digits, `_`.
    package static func problem(_ status: HTTPStatus, code: String, fields: HTTPFields = [:]) -> HTTPResponse {
        var fields = fields
        fields["Content-Type"] = "application/problem+json"
        let isRetryable = fields["Retry-After"] != nil
        let text =
            #"{"title":"\#(status.phrase)","status":\#(status),"code":"\#(code)","retryable":\#(isRetryable)}"#
        return HTTPResponse(status, fields: fields, body: Array(text.utf8))
    }
}
