import CBeast

/// What the C listener tells, as values.
enum ListenerEvent {
    case none
    case accepted(HTTPRemote)
    /// Exactly one answer must be given to the ticket. The request has no id yet.
    case request(Ticket, HTTPRequest)
    /// The client of an unanswered request left.
    case left(Ticket)
    case answered(Ticket, HTTPStatus, bytes: UInt64, duration: Duration)
    case unanswered(Ticket, HTTPStatus)
    /// Exactly one part of its stream must be given to the ticket.
    case wanted(Ticket)
    case streamed(Ticket, HTTPStatus, HTTPStreamEnd, bytes: UInt64, duration: Duration)
    case refused(HTTPRefusal, HTTPRemote)
    case exhausted(errno: Int32)
    case ended
}

/// Names a connection as long as its client is there: the slot's generation changes when it leaves.
struct Ticket: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

extension ListenerEvent {
    /// Copies everything out of the event.
    ///
    /// - Parameter event: as `assay_next` filled it, its bytes still alive.
    @unsafe
    init(_ event: assay_event) {
        let ticket = unsafe Ticket(slot: event.slot, generation: event.generation)
        let status = unsafe HTTPStatus(rawValue: Int(event.code))
        switch unsafe event.kind {
        case assay_event_accepted:
            self = unsafe .accepted(HTTPRemote(event))
        case assay_event_request:
            self = unsafe .request(ticket, HTTPRequest(event))
        case assay_event_left:
            self = .left(ticket)
        case assay_event_answered:
            let duration = unsafe Duration.microseconds(event.microseconds)
            self = unsafe .answered(ticket, status, bytes: event.bytes, duration: duration)
        case assay_event_unanswered:
            self = .unanswered(ticket, status)
        case assay_event_wanted:
            self = .wanted(ticket)
        case assay_event_streamed:
            let duration = unsafe Duration.microseconds(event.microseconds)
            let end = unsafe HTTPStreamEnd(event.end)
            self = unsafe .streamed(ticket, status, end, bytes: event.bytes, duration: duration)
        case assay_event_refused:
            let reason = unsafe assay_refusal(UInt32(event.code))
            let remote = unsafe HTTPRemote(event)
            self = HTTPRefusal(reason).map { .refused($0, remote) } ?? .none
        case assay_event_exhausted:
            self = unsafe .exhausted(errno: event.code)
        case assay_event_ended:
            self = .ended
        default:
            self = .none
        }
    }
}

extension HTTPRequest {
    @unsafe
    fileprivate init(_ event: assay_event) {
        // The parser let through only ASCII method and target.
        let target = unsafe HTTPRequest.split(target: event.target.buffer)
        let fields = unsafe UnsafeBufferPointer(start: event.fields, count: event.field_count).map { field in
            unsafe HTTPFields.Field(name: field.name.text, value: field.value.text)
        }
        unsafe self.init(
            method: HTTPMethod(rawValue: event.method.text),
            path: target.path,
            query: target.query,
            fields: HTTPFields(fields),
            body: Array(event.body.buffer),
            remote: HTTPRemote(event)
        )
    }
}

extension HTTPRemote {
    @unsafe
    fileprivate init(_ event: assay_event) {
        let count = unsafe Int(event.address_bytes)
        let address = unsafe withUnsafeBytes(of: event.address) { unsafe Array($0.prefix(count)) }
        unsafe self.init(address: address, port: event.port)
    }
}

extension assay_bytes {
    /// The bytes in place: to be copied while the event lives.
    fileprivate var buffer: UnsafeBufferPointer<UInt8> {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe bytes.assumingMemoryBound(to: UInt8.self)
    }

    /// Each byte the scalar of its number: ASCII as it is, and nothing lost of the rest.
    fileprivate var text: String {
        let bytes = unsafe buffer
        if unsafe bytes.allSatisfy({ $0 < 0x80 }) { return unsafe String(decoding: bytes, as: UTF8.self) }
        return unsafe String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension HTTPStreamEnd {
    fileprivate init(_ end: assay_stream_end) {
        switch end {
        case assay_stream_whole: self = .whole
        case assay_stream_cut: self = .broken
        case assay_stream_stopped: self = .stopped
        case assay_stream_too_slow: self = .tooSlow
        default: self = .left
        }
    }
}

extension HTTPRefusal {
    /// The C name of each reason; `nil` for the one that is found on this side.
    var reason: assay_refusal? {
        switch self {
        case .requestLine: assay_refusal_request_line
        case .target: assay_refusal_target
        case .version: assay_refusal_version
        case .field: assay_refusal_field
        case .host: assay_refusal_host
        case .bodyLength: assay_refusal_body_length
        case .transferCoding: assay_refusal_transfer_coding
        case .chunk: assay_refusal_chunk
        case .expectation: assay_refusal_expectation
        case .targetTooLong: assay_refusal_target_too_long
        case .headerTooLarge: assay_refusal_header_too_large
        case .bodyTooLarge: assay_refusal_body_too_large
        case .headerTooSlow: assay_refusal_header_too_slow
        case .bodyTooSlow: assay_refusal_body_too_slow
        case .tooManyRequests: assay_refusal_too_many_requests
        case .tooManyConnections: assay_refusal_too_many_connections
        case .tooManyBytes: assay_refusal_too_many_bytes
        case .tooManyStreams: nil
        }
    }

    init?(_ reason: assay_refusal) {
        guard let found = HTTPRefusal.allCases.first(where: { $0.reason == reason }) else { return nil }
        self = found
    }
}
