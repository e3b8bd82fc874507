import HTTP
import Testing

/// What a request may look like on the wire, and what is refused: each row is followed by a request on the same
/// connection, which is answered after a good row and must never be after a bad one.
@Suite(.serialized) struct FramingTests {
    /// A request and how it must be understood.
    struct Good: Sendable, CustomTestStringConvertible {
        let name: String
        let wire: String
        let answer: String
        var testDescription: String { name }

        init(_ name: String, _ wire: String, _ answer: String) {
            (self.name, self.wire, self.answer) = (name, wire, answer)
        }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let wire: String
        let refusal: HTTPRefusal
        var testDescription: String { name }

        init(_ name: String, _ wire: String, _ refusal: HTTPRefusal) {
            (self.name, self.wire, self.refusal) = (name, wire, refusal)
        }
    }

    static let follower = "GET /follower HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    @Test(arguments: Good.all)
    func isUnderstood(_ row: Good) async throws {
        try await withServer { server in
            let (responses, end) = try await server.exchange(row.wire + FramingTests.follower)
            #expect(responses.map(\.text) == [row.answer, "GET /follower "])
            #expect(responses.allSatisfy { $0.status == 200 })
            #expect(end == .closed)
        }
    }

    @Test(arguments: Bad.all)
    func isRefused(_ row: Bad) async throws {
        let handled = Recorder<String>()
        let handler = HTTPHandler { request in
            handled.append(HTTPHandler.describe(request))
            return HTTPResponse(.ok)
        }
        try await withServer(.quick, handler) { server in
            let (responses, end) = try await server.exchange(row.wire + FramingTests.follower)
            #expect(responses.map(\.status) == [row.refusal.status.rawValue])
            #expect(responses.first?.text.contains(#""code":"\#(row.refusal.rawValue)""#) == true)
            #expect(responses.first?.fields["Content-Type"] == "application/problem+json")
            #expect(responses.first?.fields["Connection"] == "close")
            #expect(end == .closed)
        }
        #expect(handled.all == [])
    }

    @Test func aHeadIsAnsweredWithoutABody() async throws {
        try await withServer { server in
            let wire = "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"
            let port = server.port
            let (first, second) = try await blocking {
                let client = try RawClient(port: port)
                client.send(wire + FramingTests.follower)
                return (client.response(toHead: true), client.response())
            }
            #expect(first?.fields["Content-Length"] == "8")
            #expect(second?.text == "GET /follower ")
        }
    }

    @Test func aClientThatAsksFirstIsToldToContinue() async throws {
        try await withServer { server in
            let port = server.port
            let (interim, answer) = try await blocking {
                let client = try RawClient(port: port)
                client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
                let interim = client.response()
                client.send("hello")
                return (interim, client.response())
            }
            #expect(interim?.status == 100)
            #expect(answer?.text == "POST /a hello")
        }
    }

    @Test func aClientThatAsksFirstWithTooMuchIsRefusedAtOnce() async throws {
        try await withServer { server in
            let wire = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n"
            let (responses, _) = try await server.exchange(wire)
            #expect(responses.map(\.status) == [413])
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.0\r\n\r\n", "close"),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive"),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "close"),
    ])
    func theConnectionEndsAsAsked(wire: String, connection: String) async throws {
        try await withServer { server in
            let port = server.port
            let responses = try await blocking {
                let client = try RawClient(port: port)
                client.send(wire)
                let first = client.response()
                client.send(FramingTests.follower)
                return [first, client.response()]
            }
            #expect(responses[0]?.fields["Connection"] == connection)
            #expect((responses[1] != nil) == (connection == "keep-alive"))
        }
    }

    @Test func theRemoteAndTheFieldsArrive() async throws {
        let seen = Recorder<HTTPRequest>()
        let handler = HTTPHandler { request in
            seen.append(request)
            return HTTPResponse(.noContent, body: Array("never sent".utf8))
        }
        try await withServer(.quick, handler) { server in
            let wire =
                "GET /a HTTP/1.1\r\nHost: h\r\nX-A:  1 \t\r\nx-a: 2\r\nX-Latin: caf\u{E9}\r\nConnection: close\r\n\r\n"
            let (responses, _) = try await server.exchange(wire)
            #expect(responses.map(\.status) == [204])
            #expect(responses.first?.fields["Content-Length"] == nil)
        }
        let request = try #require(seen.all.first)
        #expect(request.remote.description == "127.0.0.1")
        #expect(request.fields.all("X-a") == ["1", "2"])
        #expect(request.fields["x-latin"] == "caf\u{C3}\u{A9}")
        #expect(request.id == 1)
    }
}
