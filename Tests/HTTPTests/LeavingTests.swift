import HTTP
import TestSupport
import Testing

/// Clients that leave: their handlers are cancelled, nothing is kept for them, and nobody gets what was theirs.
@Suite(.serialized) struct LeavingTests {
    enum Manner: CaseIterable {
        case closing
        case reset
        /// Ends its own side and waits for the answer.
        case finishing
        /// Leaves another request unread, behind which its end cannot be seen by reading.
        case resetAfterMore
        case closingAfterMore
    }

    private static let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Waits half a minute, or until it is cancelled, and says so.
    private static func patient(_ told: Recorder<String>) -> HTTPHandler {
        HTTPHandler { _ in
            told.append("started")
            let wasCancelled = (try? await Task.sleep(for: .seconds(30))) == nil
            told.append(wasCancelled ? "cancelled" : "ended")
            return HTTPResponse(.ok, body: Array("late".utf8))
        }
    }

    @Test(arguments: Manner.allCases)
    func leavingCancelsTheHandler(_ manner: Manner) async throws {
        let told = Recorder<String>()
        try await withServer(.quick, LeavingTests.patient(told)) { server in
            let client = try RawClient(port: server.port)
            let isMore = manner == .resetAfterMore || manner == .closingAfterMore
            client.send(isMore ? LeavingTests.request + LeavingTests.request : LeavingTests.request)
            try await told.wait { $0 == "started" }
            switch manner {
            case .closing, .closingAfterMore: client.close()
            case .reset, .resetAfterMore: client.reset()
            case .finishing: client.finish()
            }
            try await told.wait { $0 == "cancelled" }
            if manner == .finishing {
                let answer = try await blocking { client.response() }
                #expect(answer?.text == "late")
                #expect(answer?.fields["Connection"] == "close")
            }
        }
        #expect(!told.all.contains("ended"))
    }

    /// What a simulator of a broken server does; the connection's slot serves the next client.
    @Test func aHandlerMayHangUp() async throws {
        let handler = HTTPHandler { request in request.path == "/broken" ? .hangUp : HTTPResponse(.ok) }
        try await withServer(.quick, handler) { server in
            let broken = try await server.exchange("GET /broken HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(broken.responses.isEmpty)
            #expect(broken.end == .reset)
            try await server.events.wait { event in
                if case .unanswered(let request, _) = event { request.path == "/broken" } else { false }
            }
            let whole = try await server.exchange("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(whole.responses.map(\.status) == [200])
        }
    }

    @Test func anAnswerForAResetConnectionIsReported() async throws {
        let told = Recorder<String>()
        try await withServer(.quick, LeavingTests.patient(told)) { server in
            let client = try RawClient(port: server.port)
            client.send(LeavingTests.request)
            try await told.wait { $0 == "started" }
            client.reset()
            try await server.events.wait { event in
                if case .unanswered(let request, .ok) = event { request.path == "/a" } else { false }
            }
        }
    }

    /// The second client gets the first one's slot, and must not get its answer.
    @Test func aLateAnswerFindsNobody() async throws {
        let told = Recorder<String>()
        let gates = (first: Gate(), second: Gate())
        let handler = HTTPHandler { request in
            told.append(request.path)
            await (request.path == "/first" ? gates.first : gates.second).pass()
            return HTTPResponse(.ok, body: Array(request.path.utf8))
        }
        try await withServer(.quick, handler) { server in
            let first = try RawClient(port: server.port)
            first.send("GET /first HTTP/1.1\r\nHost: h\r\n\r\n")
            try await told.wait { $0 == "/first" }
            first.reset()
            let second = try RawClient(port: server.port)
            second.send("GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
            try await told.wait { $0 == "/second" }
            gates.first.open()
            try await server.events.wait { if case .unanswered = $0 { true } else { false } }
            gates.second.open()
            #expect(try await blocking { second.response()?.text } == "/second")
        }
    }

    @Test(arguments: [
        "", "GET /a HT", "GET /a HTTP/1.1\r\nHost: h\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
    ])
    func aRequestThatIsNotWholeIsNone(wire: String) async throws {
        let told = Recorder<String>()
        try await withServer(.quick, LeavingTests.patient(told)) { server in
            for leave in [RawClient.close, RawClient.reset, RawClient.finish] {
                let client = try RawClient(port: server.port)
                client.send(wire)
                leave(client)()
                _ = try await blocking { client.readToEnd() }
            }
        }
        #expect(told.all == [])
    }

    /// A handler that does not heed its cancellation still counts as a request in flight.
    @Test func leaversCannotPileUpHandlers() async throws {
        var limits = HTTPLimits.quick
        limits.requests = 2
        let gate = Gate()
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            told.append(request.path)
            if request.path == "/a" { await gate.pass() }
            return HTTPResponse(.ok)
        }
        try await withServer(limits, handler) { server in
            for count in 1...2 {
                let client = try RawClient(port: server.port)
                client.send(LeavingTests.request)
                try await told.wait(for: count) { $0 == "/a" }
                client.reset()
            }
            let client = try RawClient(port: server.port)
            client.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await blocking { client.response()?.status } == 503)
            gate.open()
            try await server.events.wait(for: 2) { if case .unanswered = $0 { true } else { false } }
            client.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await blocking { client.response()?.status } == 200)
        }
    }

    /// In a process of its own, so that every new socket in it is this listener's or these clients'.
    @Test func nothingIsKeptOfThoseWhoLeft() async {
        await #expect(processExitsWith: .success) {
            let told = Recorder<String>()
            let handler = HTTPHandler { request in
                told.append("in")
                defer { told.append("out") }
                if request.path == "/wait" { try? await Task.sleep(for: .seconds(30)) }
                return HTTPResponse(.ok, body: Array(repeating: 0x61, count: 100_000))
            }
            try await withServer(.quick, handler) { server in
                let port = server.port
                let before = Descriptors.sockets()
                try await blocking {
                    var random = SeededRandom(seed: 7)
                    let wires = [
                        "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n", "GET /now HTTP/1.1\r\nHost: h\r\n\r\n", "GET /",
                        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhe", "nonsense\r\n\r\n", "",
                    ]
                    for _ in 0..<300 {
                        let client = try RawClient(port: port)
                        client.send(wires.randomElement(using: &random) ?? "")
                        if Bool.random(using: &random) { pause(milliseconds: 2) }
                        if Bool.random(using: &random) { client.reset() } else { client.close() }
                    }
                }
                try await settle { told.all.filter { $0 == "in" }.count == told.all.filter { $0 == "out" }.count }
                try await settle { Descriptors.sockets() == before }
                let (responses, _) = try await server.exchange("GET / HTTP/1.0\r\n\r\n")
                #expect(responses.map(\.status) == [200])
            }
        }
    }
}
