import HTTP
import Testing

/// A stop loses no answer, and has an end.
@Suite(.serialized) struct DrainTests {
    private static let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Runs `body` beside a running listener; who stops it is for `body` to say. Then the listener must come to its end.
    private func withRunning(
        _ limits: HTTPLimits = .quick,
        _ handler: HTTPHandler,
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let server = try TestServer(limits, handler)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            do {
                try await body(server)
            } catch {
                server.listener.stop()
                throw error
            }
            try await group.waitForAll()
        }
        #expect(throws: RawClient.ConnectFailure.self) { try RawClient(port: server.port) }
    }

    @Test func requestsInFlightAreAnswered() async throws {
        let gate = Gate()
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            told.append(request.path)
            await gate.pass()
            return HTTPResponse(.ok, body: Array(request.path.utf8))
        }
        try await withRunning(.quick, handler) { server in
            let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
            for client in clients { client.send(DrainTests.request) }
            try await told.wait(for: 20) { $0 == "/a" }
            server.listener.stop()
            gate.open()
            let responses = try await blocking { clients.map { $0.response() } }
            #expect(responses.allSatisfy { $0?.text == "/a" && $0?.fields["Connection"] == "close" })
        }
    }

    @Test func aHalfSentBodyIsTakenToItsEnd() async throws {
        try await withRunning(.quick, .describing) { server in
            let client = try RawClient(port: server.port)
            client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello")
            try await server.events.wait { if case .accepted = $0 { true } else { false } }
            // Past the time that idle connections have.
            let answer = try await blocking {
                pause(milliseconds: 400)
                server.listener.stop()
                pause(milliseconds: 300)
                client.send("hello")
                return client.response()
            }
            #expect(answer?.text == "POST /a hellohello")
        }
    }

    @Test func anIdleConnectionMaySendOneMoreAndIsThenClosed() async throws {
        var limits = HTTPLimits.quick
        limits.drainIdle = .seconds(1)
        try await withRunning(limits, .describing) { server in
            try await blocking {
                let client = try RawClient(port: server.port)
                let silent = try RawClient(port: server.port)
                client.send(DrainTests.request)
                silent.send(DrainTests.request)
                #expect(client.response()?.fields["Connection"] == nil)
                #expect(silent.response()?.fields["Connection"] == nil)
                server.listener.stop()
                pause(milliseconds: 50)
                client.send(DrainTests.request)
                #expect(client.response()?.fields["Connection"] == "close")
                #expect(silent.readToEnd().end == .closed)
            }
        }
    }

    @Test func requestsThatCameTogetherAreAllAnswered() async throws {
        let gate = Gate()
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            told.append(request.path)
            await gate.pass()
            return HTTPResponse(.ok)
        }
        try await withRunning(.quick, handler) { server in
            let client = try RawClient(port: server.port)
            client.send(String(repeating: DrainTests.request, count: 5))
            try await told.wait { $0 == "/a" }
            server.listener.stop()
            gate.open()
            let responses = try await blocking { RawResponse.all(in: client.readToEnd().bytes) }
            #expect(responses.map { $0.fields["Connection"] } == [nil, nil, nil, nil, "close"])
        }
    }

    @Test func underLoadNoAnswerIsLost() async throws {
        let answered = Recorder<Int?>()
        var limits = HTTPLimits.quick
        // Nobody is idle; somebody may just be slow to ask again.
        limits.drainIdle = .seconds(5)
        try await withRunning(limits, .describing) { server in
            let port = server.port
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    let client = try RawClient(port: port)
                    group.addTask {
                        try await blocking { answered.append(DrainTests.askUntilTheEnd(client)) }
                    }
                }
                try await server.events.wait(for: 1_000) { if case .served = $0 { true } else { false } }
                server.listener.stop()
                try await group.waitForAll()
            }
        }
        let counts = answered.all.compactMap { $0 }
        #expect(counts.count == 16)
        #expect(counts.reduce(0, +) >= 1_000)
    }

    /// Asks again and again until it is told that the connection closes; `nil` when an answer is missing.
    private static func askUntilTheEnd(_ client: RawClient) -> Int? {
        for count in 1... {
            client.send(DrainTests.request)
            guard let answer = client.response() else { return nil }
            if answer.fields["Connection"] == "close" { return count }
        }
        return nil
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a HTT", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n",
    ])
    func theEndComesAtTheLimit(wire: String) async throws {
        var limits = HTTPLimits.quick
        limits.drain = .milliseconds(200)
        let isWhole = wire.hasSuffix("h\r\n\r\n")
        let told = Recorder<String>()
        let handler = HTTPHandler { _ in
            told.append("started")
            try? await Task.sleep(for: .seconds(30))
            told.append(Task.isCancelled ? "cancelled" : "ended")
            return HTTPResponse(.ok)
        }
        try await withRunning(limits, handler) { server in
            let client = try RawClient(port: server.port)
            client.send(wire)
            if isWhole { try await told.wait { $0 == "started" } }
            let (bytes, _) = try await blocking {
                pause(milliseconds: 300)
                server.listener.stop()
                return client.readToEnd()
            }
            #expect(bytes.isEmpty)
        }
        #expect(told.all == (isWhole ? ["started", "cancelled"] : []))
    }

    /// The answers of handlers that end when they are cancelled are written all the same.
    @Test func cancellingTheRunIsAStop() async throws {
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            told.append(request.path)
            try? await Task.sleep(for: .seconds(30))
            return HTTPResponse(.serviceUnavailable)
        }
        let server = try TestServer(.quick, handler)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            let client = try RawClient(port: server.port)
            client.send(DrainTests.request)
            try await told.wait { $0 == "/a" }
            group.cancelAll()
            #expect(try await blocking { client.response()?.status } == 503)
        }
    }

    @Test func aStopBeforeTheRunEndsItAtOnce() async throws {
        let server = try TestServer(.quick, .describing)
        server.listener.stop()
        server.listener.stop()
        await server.listener.run()
    }

    @Test func aListenerThatNeverRanIsFreed() throws {
        weak var listener: HTTPListener?
        do {
            let server = try TestServer(.quick, .describing)
            listener = server.listener
            #expect(listener != nil)
        }
        #expect(listener == nil)
    }
}
