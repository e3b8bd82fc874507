import HTTP
import Synchronization
import Testing

@Suite struct CallerFailureTests {
    /// What a server does to us, and what we call it.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let failure: HTTPCallFailure
        var settings: @Sendable (inout CallerSettings) -> Void = { _ in }
        let script: @Sendable (RawClient) -> Void

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "it leaves without a word", failure: .noResponse) { _ = $0.readHead() },
        Row(name: "it leaves inside the body", failure: .closedEarly) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")
        },
        Row(name: "it leaves inside a chunk", failure: .closedEarly) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
        },
        Row(name: "it crashes inside the body", failure: .connectionLost) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")
            client.reset()
        },
        Row(name: "it speaks another language", failure: .malformedResponse) { client in
            _ = client.readHead()
            client.send("220 mail.example.com ESMTP\r\n\r\n")
        },
        Row(name: "it says nothing", failure: .timedOut, settings: { $0.timeout = .milliseconds(200) }) { client in
            _ = client.readToEnd()
        },
        Row(
            name: "it never comes to an end",
            failure: .timedOut,
            settings: { $0.timeout = .milliseconds(300) }
        ) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while client.send(".") { pause(milliseconds: 20) }
        },
        Row(name: "it announces too much", failure: .tooLarge, settings: { $0.responseBytesMax = 9 }) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
        },
        Row(name: "it sends chunks for ever", failure: .tooLarge, settings: { $0.responseBytesMax = 1_000 }) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while client.send("4\r\nabcd\r\n") {}
        },
        Row(name: "it sends fields for ever", failure: .tooLarge, settings: { $0.headerBytesMax = 4_000 }) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\n")
            while client.send("X-More: and more\r\n") {}
        },
        Row(
            name: "it sends us round in circles",
            failure: .tooManyRedirects,
            settings: { $0.redirectsMax = 3 }
        ) { client in
            while client.readHead() != nil {
                client.send("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
            }
        },
        Row(
            name: "it sends us to a file",
            failure: .malformedResponse,
            settings: { $0.redirectsMax = 3 }
        ) { client in
            _ = client.readHead()
            client.send("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
        },
    ]

    @Test(arguments: rows)
    func everyFailureHasItsName(_ row: Row) async throws {
        let server = try RawServer(row.script)
        var settings = CallerSettings()
        settings.timeout = .seconds(20)
        row.settings(&settings)
        let caller = CurlCaller(settings)
        await #expect(throws: row.failure) { try await caller.send(HTTPCall(url: server.url())) }
    }

    @Test func aRedirectIsAnAnswerLikeAnyOther() async throws {
        let server = try RawServer { client in
            _ = client.readHead()
            client.send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno")
        }
        let answer = try await CurlCaller().send(HTTPCall(url: server.url()))
        #expect(answer.status.rawValue == 302)
        #expect(answer.fields["Location"] == "http://127.0.0.1:1/")
        #expect(answer.body == Array("no".utf8))
    }

    @Test func nobodyListens() async throws {
        let port = try RawServer.closedPort()
        await #expect(throws: HTTPCallFailure.unreachable) {
            try await CurlCaller().send(HTTPCall(url: "http://127.0.0.1:\(port)/"))
        }
    }

    @Test func aNameThatCannotBeIsNotFound() async throws {
        // A label has at most 63 letters, so no server for names is asked.
        let label = String(repeating: "x", count: 64)
        await #expect(throws: HTTPCallFailure.unresolved) {
            try await CurlCaller().send(HTTPCall(url: "http://\(label).example/"))
        }
    }

    @Test func aForbiddenAddressIsNeverConnectedTo() async throws {
        let visits = Recorder<Void>()
        let server = try RawServer { _ in visits.append(()) }
        var settings = CallerSettings()
        settings.allows = { $0.address != [127, 0, 0, 1] }
        let caller = CurlCaller(settings)
        for url in [server.url(), "http://127.1:\(server.port)/", "http://2130706433:\(server.port)/"] {
            await #expect(throws: HTTPCallFailure.addressRefused, "\(url)") {
                try await caller.send(HTTPCall(url: url))
            }
        }
        #expect(visits.all.isEmpty)
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "/relative", "", "http://", "https:/x",
        "http://a b/", "http://a/\r\nX: y", "http://ä/", "javascript:alert(1)", "HTTPS",
    ])
    func whatIsNoAddressIsNotCalled(_ url: String) async throws {
        await #expect(throws: HTTPCallFailure.invalidCall) { try await CurlCaller().send(HTTPCall(url: url)) }
    }

    @Test(arguments: [
        ("X", "a\r\nInjected: yes"), ("X Y", "a"), ("", "a"), ("X", "\u{0}"), ("Content-Length", "5"),
        ("transfer-encoding", "chunked"), ("Connection", "close"),
    ])
    func fieldsThatCouldSmuggleAreNotSent(name: String, value: String) async throws {
        let call = HTTPCall(url: "http://127.0.0.1:1/", fields: [name: value])
        await #expect(throws: HTTPCallFailure.invalidCall) { try await CurlCaller().send(call) }
    }

    @Test func aRefusingProxyIsNamed() async throws {
        let proxy = try RawServer { client in
            _ = client.readHead()
            client.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        }
        var settings = CallerSettings()
        settings.proxy = proxy.url("")
        let caller = CurlCaller(settings)
        await #expect(throws: HTTPCallFailure.proxy) {
            try await caller.send(HTTPCall(url: "https://shop.invalid/"))
        }
    }

    @Test func aCancelledTaskWaitsNoLonger() async throws {
        let came = Recorder<Void>()
        let server = try RawServer { client in
            came.append(())
            _ = client.readToEnd()
        }
        let caller = CurlCaller()
        let call = Task { try await caller.send(HTTPCall(url: server.url())) }
        try await came.wait { _ in true }
        call.cancel()
        await #expect(throws: HTTPCallFailure.cancelled) { try await call.value }
        let late = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await caller.send(HTTPCall(url: server.url()))
        }
        await #expect(throws: HTTPCallFailure.cancelled) { try await late.value }
    }

    @Test func moreCallsThanAllowedFailAtOnce() async throws {
        let came = Recorder<Void>()
        let server = try RawServer { client in
            came.append(())
            _ = client.readToEnd()
        }
        var settings = CallerSettings()
        settings.callsMax = 1
        let caller = CurlCaller(settings)
        let first = Task { try await caller.send(HTTPCall(url: server.url())) }
        try await came.wait { _ in true }
        await #expect(throws: HTTPCallFailure.tooManyCalls) { try await caller.send(HTTPCall(url: server.url())) }
        first.cancel()
        await #expect(throws: HTTPCallFailure.cancelled) { try await first.value }
    }
}
