import Foundation
import HTTP
import PurchaseClient
import Synchronization
import Testing

/// URLSession against a listener on this machine.
@Suite(.serialized) struct TransportTests {
    private final class Seen: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
        var paths: [String] { requests.withLock { $0.map(\.path) } }
    }

    private static func serving(
        _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse,
        _ body: @Sendable (Transport, Seen) async throws -> Void
    ) async throws {
        let seen = Seen()
        let handler = HTTPHandler { request in
            seen.requests.withLock { $0.append(request) }
            return respond(request)
        }
        let listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: handler) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            defer { listener.stop() }
            let server = try #require(URL(string: "http://127.0.0.1:\(listener.port)/shop/"))
            try await body(.network(to: server), seen)
        }
    }

    private static func request(_ method: String = "POST", _ target: String = "/v1/purchases") -> Transport.Request {
        let fields = ["Authorization": "Bearer pk_test", "Content-Type": "application/json"]
        let body = method == "POST" ? Array(#"{"proof":"p"}"#.utf8) : []
        return Transport.Request(method: method, target: target, fields: fields, body: body)
    }

    @Test func whatIsAskedArrivesAndWhatIsAnsweredComesBack() async throws {
        try await Self.serving { _ in
            HTTPResponse(.serviceUnavailable, fields: ["Retry-After": "3", "X-Thing": "a"], body: [1, 2, 0, 255])
        } _: { transport, seen in
            let answer = try await transport.send(Self.request())
            #expect(answer.status == 503)
            #expect(answer.fields["retry-after"] == "3" && answer.fields["x-thing"] == "a")
            #expect(answer.body == [1, 2, 0, 255])
            _ = try await transport.send(Self.request("GET", "/v1/customers/a%2Fb/entitlements?x=1"))
            let asked = seen.requests.withLock(\.self)
            #expect(asked.map(\.method) == [.post, .get])
            #expect(asked.map(\.path) == ["/shop/v1/purchases", "/shop/v1/customers/a%2Fb/entitlements"])
            #expect(asked.map(\.query) == [nil, "x=1"])
            #expect(asked.map { $0.fields["Authorization"] } == ["Bearer pk_test", "Bearer pk_test"])
            #expect(asked.map { $0.fields["Content-Type"] }.first == "application/json")
            #expect(asked.first?.body == Array(#"{"proof":"p"}"#.utf8))
        }
    }

    /// The key stays where it was sent.
    @Test(arguments: [301, 302, 303, 307, 308], ["POST", "GET"])
    func aRedirectIsAnAnswerAndNotFollowed(status: Int, method: String) async throws {
        try await Self.serving { _ in
            HTTPResponse(HTTPStatus(rawValue: status), fields: ["Location": "/elsewhere"])
        } _: { transport, seen in
            let answer = try await transport.send(Self.request(method))
            #expect(answer.status == status)
            #expect(seen.paths == ["/shop/v1/purchases"])
        }
    }

    @Test func nothingIsKeptBetweenRequests() async throws {
        try await Self.serving { _ in
            let fields: HTTPFields = [
                "Set-Cookie": "a=b; Path=/", "Cache-Control": "max-age=600", "ETag": "\"1\"",
            ]
            return HTTPResponse(.ok, fields: fields, body: Array("{}".utf8))
        } _: { transport, seen in
            for _ in 0..<3 { _ = try await transport.send(Self.request("GET")) }
            let asked = seen.requests.withLock(\.self)
            #expect(asked.count == 3)
            #expect(asked.allSatisfy { $0.fields["Cookie"] == nil && $0.fields["If-None-Match"] == nil })
        }
    }

    @Test func whereNobodyListensThereIsNoAnswer() async throws {
        let listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: HTTPHandler { _ in .hangUp })
        { _ in }
        let server = try #require(URL(string: "http://127.0.0.1:\(listener.port)"))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            defer { listener.stop() }
            await #expect(throws: (any Error).self) { try await Transport.network(to: server).send(Self.request()) }
        }
    }
}
