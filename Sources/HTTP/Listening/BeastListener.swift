import CBeast

/// The C listener with Swift's values around it; the only file that calls it.
///
/// The handle is one pointer that never changes. ``next(waits:)`` is called on one thread only, the listener's own;
/// the other verbs are safe from any thread, which the C++ side sees to with a lock.
@safe
final class BeastListener: Sendable {
    private let listener: assay_listener

    init(address: String, port: UInt16, limits: HTTPLimits) throws(HTTPListenerFailure) {
        var limits = assay_limits(limits)
        // The limits are copied before the call returns.
        unsafe listener = unsafe assay_create(&limits)
        for refusal in HTTPRefusal.allCases {
            guard let reason = refusal.reason else { continue }
            unsafe SerializedAnswer(refusal.response).withAnswer { answer in
                unsafe assay_set_refusal(listener, reason, answer)
            }
        }
        let error = unsafe assay_listen(listener, address, port)
        guard error == 0 else { throw HTTPListenerFailure(errno: error) }
    }

    deinit {
        // Whoever uses the listener holds it, so nobody is inside.
        unsafe assay_free(listener)
    }

    var port: UInt16 {
        unsafe assay_port(listener)
    }

    /// The next event; ``ListenerEvent/none`` when there is none and `waits` is false.
    func next(waits: Bool) -> ListenerEvent {
        var event = unsafe assay_event()
        unsafe assay_next(listener, waits, &event)
        // The event's bytes live until the next call; all of them are copied here.
        return unsafe ListenerEvent(event)
    }

    /// `stream` is a number that no other stream has, when the body follows in parts; else 0.
    func answer(_ ticket: Ticket, _ answer: SerializedAnswer, stream: UInt64 = 0) {
        // Copied before the call returns.
        unsafe answer.withAnswer(stream: stream) { answer in
            unsafe assay_answer_request(listener, ticket.slot, ticket.generation, answer)
        }
    }

    /// Goes on with a stream, after ``ListenerEvent/wanted``.
    func send(_ part: StreamPart, of stream: UInt64, to ticket: Ticket) {
        let (kind, bytes) =
            switch part {
            case .more(let bytes): (assay_part_more, bytes)
            case .last: (assay_part_last, [])
            case .cut: (assay_part_cut, [])
            }
        // Copied before the call returns.
        unsafe bytes.withUnsafeBytes { bytes in
            var part = unsafe assay_part(stream: stream, kind: kind, bytes: assay_bytes(bytes))
            unsafe assay_send_part(listener, ticket.slot, ticket.generation, &part)
        }
    }

    func stop() {
        unsafe assay_stop(listener)
    }
}

/// What a stream goes on with.
enum StreamPart {
    case more([UInt8])
    case last
    case cut
}

extension SerializedAnswer {
    fileprivate func withAnswer(stream: UInt64 = 0, _ body: (UnsafePointer<assay_answer>) -> Void) {
        // The pointers stay inside the closures that lend them.
        unsafe head.withUnsafeBytes { head in
            unsafe self.body.withUnsafeBytes { bytes in
                var answer = unsafe assay_answer(
                    status: status,
                    head: assay_bytes(head),
                    body: assay_bytes(bytes),
                    has_date: hasDate,
                    stream: stream
                )
                unsafe body(&answer)
            }
        }
    }
}

extension assay_bytes {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        // An empty array may lend no pointer; the C side copies no bytes then.
        unsafe self.init(start: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count: bytes.count)
    }
}

extension assay_limits {
    fileprivate init(_ limits: HTTPLimits) {
        self.init(
            header_bytes: UInt32(clamping: limits.headerBytes),
            header_fields: UInt32(clamping: limits.headerFields),
            body_bytes: UInt64(clamping: limits.bodyBytes),
            buffered_bytes: UInt64(clamping: limits.bufferedBytes),
            connections: UInt32(clamping: limits.connections),
            requests: UInt32(clamping: limits.requests),
            header_duration: limits.header.milliseconds,
            body_duration: limits.body.milliseconds,
            idle_duration: limits.idle.milliseconds,
            write_duration: limits.write.milliseconds,
            linger_duration: limits.linger.milliseconds,
            drain_idle_duration: limits.drainIdle.milliseconds,
            drain_duration: limits.drain.milliseconds
        )
    }
}

extension Duration {
    fileprivate var milliseconds: UInt32 {
        let (seconds, attoseconds) = components
        let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
        guard !whole.overflow else { return .max }
        return UInt32(clamping: whole.partialValue + UInt64(clamping: attoseconds / 1_000_000_000_000_000))
    }
}
