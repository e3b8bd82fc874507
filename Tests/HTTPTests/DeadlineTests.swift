import HTTP
import Testing

/// Every phase of a connection has an end, whatever trickles in.
@Suite(.serialized) struct DeadlineTests {
    private static var limits: HTTPLimits {
        var limits = HTTPLimits.quick
        limits.header = .milliseconds(250)
        limits.body = .milliseconds(250)
        limits.idle = .milliseconds(250)
        limits.write = .milliseconds(250)
        return limits
    }

    enum Pace: CaseIterable {
        case stall
        case trickle
    }

    @Test(arguments: Pace.allCases)
    func aHeaderMustEnd(_ pace: Pace) async throws {
        try await expectTooSlow("GET /a HTTP/1.1\r\nX: ", pace, .headerTooSlow)
    }

    @Test(arguments: Pace.allCases)
    func aBodyMustEnd(_ pace: Pace) async throws {
        try await expectTooSlow("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n", pace, .bodyTooSlow)
    }

    @Test(arguments: Pace.allCases)
    func aChunkedBodyMustEnd(_ pace: Pace) async throws {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n"
        try await expectTooSlow(head, pace, .bodyTooSlow)
    }

    /// The deadline of the second request starts with its first byte, not with the connection.
    @Test func aLaterHeaderMustEndToo() async throws {
        let wire = "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HT"
        try await withServer(DeadlineTests.limits) { server in
            let (responses, _) = try await server.exchange(wire)
            #expect(responses.map(\.status) == [200, 408])
        }
    }

    private func expectTooSlow(_ start: String, _ pace: Pace, _ refusal: HTTPRefusal) async throws {
        try await withServer(DeadlineTests.limits) { server in
            let port = server.port
            let (bytes, end) = try await blocking {
                let client = try RawClient(port: port)
                client.send(start)
                // Well beyond the deadline, but not beyond the answer: who sends after the end is reset.
                while pace == .trickle, !client.hasInput {
                    client.send("x")
                    pause(milliseconds: 5)
                }
                return client.readToEnd()
            }
            #expect(RawResponse.all(in: bytes).map(\.status) == [408])
            #expect(end == .closed)
            try await server.events.wait { if case .refused(refusal, _) = $0 { true } else { false } }
        }
    }

    @Test(arguments: ["", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"])
    func aSilentConnectionIsClosedWithoutAWord(wire: String) async throws {
        try await withServer(DeadlineTests.limits) { server in
            let (responses, end) = try await server.exchange(wire)
            #expect(responses.map(\.status) == (wire.isEmpty ? [] : [200]))
            #expect(end == .closed)
        }
    }

    /// An answer that fits into no buffer of the kernel.
    private static let bulky = HTTPHandler { _ in
        HTTPResponse(.ok, body: [UInt8](repeating: 0x61, count: 16 << 20))
    }

    @Test func aReaderThatNeverReadsIsLetGo() async throws {
        try await withServer(DeadlineTests.limits, DeadlineTests.bulky) { server in
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
            try await server.events.wait { if case .unanswered(_, .ok) = $0 { true } else { false } }
        }
    }

    /// It takes longer than the deadline for all of it, but goes on.
    @Test func aReaderThatGoesOnGetsEverything() async throws {
        var limits = HTTPLimits.quick
        limits.write = .seconds(1)
        try await withServer(limits, DeadlineTests.bulky) { server in
            let port = server.port
            let count = try await blocking {
                let client = try RawClient(port: port)
                client.send("GET /a HTTP/1.0\r\n\r\n")
                return client.readToEnd(pausing: 8).bytes.count
            }
            #expect(count > 16 << 20)
        }
    }
}
