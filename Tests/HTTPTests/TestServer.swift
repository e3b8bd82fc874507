import Dispatch
import Glibc
import HTTP
import Synchronization
import Testing

/// A listener on a free port, everything it reported, and what its handlers did.
final class TestServer: Sendable {
    let listener: HTTPListener
    let events: Recorder<HTTPEvent>

    var port: UInt16 { listener.port }

    init(_ limits: HTTPLimits, _ handler: HTTPHandler, address: String = "127.0.0.1") throws {
        let events = Recorder<HTTPEvent>()
        self.events = events
        listener = try HTTPListener(address: address, port: 0, limits: limits, lanes: 2, handler: handler) { event in
            events.append(event)
        }
    }

    /// Connects, sends everything, and reads to the end.
    func exchange(_ text: String) async throws -> (responses: [RawResponse], end: RawClient.End) {
        let port = self.port
        return try await blocking {
            let client = try RawClient(port: port)
            client.send(text)
            let (bytes, end) = client.readToEnd()
            return (RawResponse.all(in: bytes), end)
        }
    }
}

/// Runs a listener while `body` runs, then stops it and waits until it is empty.
func withServer(
    _ limits: HTTPLimits = .quick,
    _ handler: HTTPHandler = .describing,
    _ body: @Sendable (TestServer) async throws -> Void
) async throws {
    let server = try TestServer(limits, handler)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await server.listener.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        server.listener.stop()
        try await group.waitForAll()
        try result.get()
    }
}

/// Runs what blocks on a thread of its own: there are as many threads for tasks as cores, and handlers need them.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking").async {
            continuation.resume(with: Result(catching: body))
        }
    }
}

/// Lets the other side take what was sent before more comes. Only off the tasks' threads.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1_000)
}

extension HTTPLimits {
    /// The defaults, save that nobody waits long for an end.
    static var quick: HTTPLimits {
        var limits = HTTPLimits()
        // So that what is too long is made and sent in no time.
        limits.bodyBytes = 1 << 20
        limits.linger = .milliseconds(200)
        limits.drainIdle = .milliseconds(100)
        limits.drain = .seconds(60)
        return limits
    }
}

extension HTTPHandler {
    /// Answers with what it was asked: `METHOD path?query body`.
    static let describing = HTTPHandler { request in
        HTTPResponse(.ok, body: Array(describe(request).utf8))
    }

    static func describe(_ request: HTTPRequest) -> String {
        let query = request.query.map { "?\($0)" } ?? ""
        return "\(request.method) \(request.path)\(query) \(String(decoding: request.body, as: UTF8.self))"
    }
}

/// Keeps what it is given, in order, and lets a test wait for it.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func append(_ element: Element) {
        elements.withLock { $0.append(element) }
    }

    var all: [Element] {
        elements.withLock { $0 }
    }

    /// Waits until as many elements as wanted are as told; false after a minute.
    @discardableResult
    func wait(
        for count: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation,
        where isWanted: @Sendable (Element) -> Bool
    ) async throws -> Bool {
        for _ in 0..<12_000 {
            if all.filter(isWanted).count >= count { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("waited in vain", sourceLocation: sourceLocation)
        return false
    }
}
