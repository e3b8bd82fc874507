import HTTP
import Testing

/// What a stream is made of, as a test says, and what was asked of it.
final class Feed: Sendable {
    enum Step: Sendable {
        case chunk([UInt8])
        case end
        case failure
    }

    /// `asked` for each chunk, `cancelled` when nobody wanted to wait any more.
    let told = Recorder<String>()
    private let steps: AsyncStream<Step>
    private let continuation: AsyncStream<Step>.Continuation

    init(_ chunks: [String] = [], then end: Step? = nil) {
        (steps, continuation) = AsyncStream.makeStream(of: Step.self)
        for chunk in chunks { give(chunk) }
        if let end { give(end) }
    }

    func give(_ text: String) { give(.chunk(Array(text.utf8))) }

    func give(_ step: Step) { continuation.yield(step) }

    var stream: HTTPStream {
        HTTPStream { [self] () async throws(HTTPStream.Broken) in
            told.append("asked")
            var iterator = steps.makeAsyncIterator()
            switch await iterator.next() {
            case .chunk(let bytes): return bytes
            case .end: return nil
            case .failure: throw HTTPStream.Broken()
            case nil:
                told.append("cancelled")
                throw HTTPStream.Broken()
            }
        }
    }

    /// Answers `/stream` with this, once, and anything else at once.
    var handler: HTTPHandler {
        HTTPHandler { [self] request in
            request.path == "/stream" ? HTTPResponse(.ok, stream: stream) : HTTPResponse(.ok, body: Array("plain".utf8))
        }
    }

    static func request(_ path: String = "/stream", method: String = "GET", version: String = "1.1") -> String {
        "\(method) \(path) HTTP/\(version)\r\nHost: h\r\n\r\n"
    }

    /// Chunks of this many bytes, as many as are wanted.
    static func endless(bytes: Int, _ told: Recorder<String>) -> HTTPHandler {
        HTTPHandler { request in
            guard request.path == "/stream" else { return HTTPResponse(.ok) }
            return HTTPResponse(
                .ok,
                stream: HTTPStream { () async throws(HTTPStream.Broken) in
                    told.append("asked")
                    return [UInt8](repeating: 0x61, count: bytes)
                }
            )
        }
    }
}

extension TestServer {
    /// The first stream that is over, and how.
    func streamed() async throws -> (end: HTTPStreamEnd, bytes: UInt64)? {
        try await events.wait { if case .streamed = $0 { true } else { false } }
        for case .streamed(_, _, let end, let bytes, _) in events.all { return (end, bytes) }
        return nil
    }
}
