import HTTP
import Testing

/// All clients together are limited, too, and who is turned away is told so and may come again.
@Suite(.serialized) struct LimitTests {
    private static let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func oneConnectionTooManyIsTurnedAway() async throws {
        var limits = HTTPLimits.quick
        limits.connections = 2
        try await withServer(limits) { server in
            let port = server.port
            try await blocking {
                let first = try RawClient(port: port)
                let second = try RawClient(port: port)
                first.send(LimitTests.request)
                second.send(LimitTests.request)
                #expect(first.response()?.status == 200)
                #expect(second.response()?.status == 200)

                let third = try RawClient(port: port)
                third.send(LimitTests.request)
                let (bytes, end) = third.readToEnd()
                let responses = RawResponse.all(in: bytes)
                #expect(responses.map(\.status) == [503])
                #expect(responses.first?.fields["Retry-After"] == "1")
                #expect(end == .closed)

                first.close()
                third.close()
            }
            try await settle { LimitTests.isServed(on: port) }
        }
    }

    private static func isServed(on port: UInt16) -> Bool {
        guard let client = try? RawClient(port: port) else { return false }
        client.send(LimitTests.request)
        return client.response()?.status == 200
    }

    /// More than are told 503 at a time: the rest wait in the kernel, and have their turn.
    @Test func manyConnectionsTooManyAreAllTurnedAway() async throws {
        var limits = HTTPLimits.quick
        limits.connections = 1
        limits.linger = .milliseconds(300)
        try await withServer(limits) { server in
            let port = server.port
            let statuses = try await blocking {
                let holder = try RawClient(port: port)
                holder.send(LimitTests.request)
                _ = holder.response()
                let clients = try (0..<200).map { _ in
                    let client = try RawClient(port: port)
                    client.send(LimitTests.request)
                    return client
                }
                let statuses = clients.map { $0.response()?.status }
                holder.send(LimitTests.request)
                return statuses + [holder.response()?.status]
            }
            #expect(statuses == Array(repeating: 503, count: 200) + [200])
        }
    }

    @Test func oneRequestTooManyIsTurnedAwayAndMayStay() async throws {
        var limits = HTTPLimits.quick
        limits.requests = 1
        let gate = Gate()
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            told.append(request.path)
            await gate.pass()
            return HTTPResponse(.ok)
        }
        try await withServer(limits, handler) { server in
            let first = try RawClient(port: server.port)
            first.send(LimitTests.request)
            try await told.wait { $0 == "/a" }
            let second = try RawClient(port: server.port)
            // Many at once: each is told, in order, on the same connection.
            second.send(String(repeating: LimitTests.request, count: 1_000))
            let refused = try await blocking { (0..<1_000).map { _ in second.response() } }
            #expect(refused.allSatisfy { $0?.status == 503 && $0?.fields["Retry-After"] == "1" })
            gate.open()
            #expect(try await blocking { first.response()?.status } == 200)
            second.send(LimitTests.request)
            #expect(try await blocking { second.response()?.status } == 200)
        }
    }

    /// Bodies count while they are read; what was answered or given up counts no more.
    @Test func allBodiesTogetherAreLimited() async throws {
        var limits = HTTPLimits.quick
        limits.bufferedBytes = 600_000
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n"
        let half = head + String(repeating: "x", count: 390_000)
        try await withServer(limits) { server in
            let port = server.port
            try await blocking {
                for _ in 0..<3 {
                    // Whose bytes are read first is the server's to say: the other one is turned away.
                    let clients = [try RawClient(port: port), try RawClient(port: port)]
                    for client in clients { client.send(half) }
                    let turnedAway = try #require(LimitTests.firstAnswered(of: clients))
                    let refused = clients[turnedAway].response()
                    #expect(refused?.status == 503)
                    #expect(refused?.text.contains("too_many_bytes_in_flight") == true)
                    let other = clients[1 - turnedAway]
                    other.send(String(repeating: "x", count: 10_000))
                    #expect(other.response()?.body.count == 400_008)
                }
            }
        }
    }

    private static func large(_ path: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n" + String(repeating: "x", count: 400_000)
    }

    /// Nor are they forgotten while they are handled: who handles them holds them, also when the client has gone.
    @Test(arguments: [false, true]) func bodiesCountUntilTheyAreAnswered(hasLeft: Bool) async throws {
        var limits = HTTPLimits.quick
        limits.bufferedBytes = 600_000
        let (gate, told) = (Gate(), Recorder<String>())
        let handler = HTTPHandler { request in
            told.append(request.path)
            if request.path == "/held" { await gate.pass() }
            return HTTPResponse(.ok)
        }
        try await withServer(limits, handler) { server in
            let first = try RawClient(port: server.port)
            first.send(LimitTests.large("/held"))
            try await told.wait { $0 == "/held" }
            if hasLeft { first.close() }
            let port = server.port
            let refused = try await blocking {
                let second = try RawClient(port: port)
                second.send(LimitTests.large("/a"))
                return second.response()
            }
            #expect(refused?.status == 503)
            #expect(refused?.fields["Retry-After"] == "1")
            #expect(refused?.text.contains("too_many_bytes_in_flight") == true)
            // What has no body is answered all the while.
            #expect(try await blocking { LimitTests.isServed(on: port) })
            gate.open()
            if !hasLeft { #expect(try await blocking { first.response()?.status } == 200) }
            try await settle {
                guard let third = try? RawClient(port: port) else { return false }
                third.send(LimitTests.large("/a"))
                return third.response()?.status == 200
            }
        }
    }

    /// The place of a client that can read something; `nil` when none can in 20 seconds.
    private static func firstAnswered(of clients: [RawClient]) -> Int? {
        for _ in 0..<4_000 {
            if let place = clients.firstIndex(where: \.hasInput) { return place }
            pause(milliseconds: 5)
        }
        return nil
    }
}
