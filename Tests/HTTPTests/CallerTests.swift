import HTTP
import Synchronization
import Testing

@Suite struct CallerTests {
    private func caller(_ change: (inout CallerSettings) -> Void = { _ in }) -> HTTPCaller {
        var settings = CallerSettings()
        settings.timeout = .seconds(120)
        change(&settings)
        return CurlCaller(settings).caller
    }

    @Test(arguments: [
        (HTTPMethod.get, ""), (.post, ""), (.post, "a body"), (.put, "a body"), (.patch, "x"), (.delete, ""),
        (.delete, "x"), (HTTPMethod(rawValue: "QUERY"), "x"),
    ])
    func whatIsSentArrives(method: HTTPMethod, body: String) async throws {
        try await withServer { server in
            let url = "http://127.0.0.1:\(server.port)/a%20b?c=d"
            let answer = try await caller().send(HTTPCall(method: method, url: url, body: Array(body.utf8)))
            #expect(answer.status == .ok)
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(method) /a%20b?c=d \(body)")
        }
    }

    @Test func headHasNoBody() async throws {
        try await withServer { server in
            let answer = try await caller().send(
                HTTPCall(method: .head, url: "http://127.0.0.1:\(server.port)/")
            )
            #expect(answer.status == .ok)
            #expect(answer.body.isEmpty)
        }
    }

    @Test func fieldsGoBothWays() async throws {
        let echo = HTTPHandler { request in
            var fields: HTTPFields = ["X-Seen": request.fields.all("X-Twice").joined(separator: "+")]
            fields["X-Kind"] = request.fields["Content-Type"] ?? "none"
            fields["X-Expect"] = request.fields["Expect"] ?? "none"
            fields["X-Host"] = request.fields["Host"]
            fields.append("Set-Cookie", "a")
            fields.append("Set-Cookie", "b")
            return HTTPResponse(HTTPStatus(rawValue: 418), fields: fields, body: [1, 0, 2])
        }
        try await withServer(.quick, echo) { server in
            var call = HTTPCall(method: .post, url: "http://127.0.0.1:\(server.port)/", body: [0, 255])
            call.fields.append("X-Twice", "one")
            call.fields.append("X-Twice", "two")
            call.fields["X-Empty"] = ""
            call.fields["Host"] = "buy.itunes.apple.com"
            let answer = try await caller().send(call)
            #expect(answer.status.rawValue == 418)
            #expect(answer.fields["x-seen"] == "one+two")
            #expect(answer.fields["X-Kind"] == "none")
            #expect(answer.fields["X-Expect"] == "none")
            #expect(answer.fields["X-Host"] == "buy.itunes.apple.com")
            #expect(answer.fields.all("Set-Cookie") == ["a", "b"])
            #expect(answer.body == [1, 0, 2])
        }
    }

    @Test func aLargeBodyIsWhole() async throws {
        let mirror = HTTPHandler { HTTPResponse(.ok, body: $0.body) }
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(.quick, mirror) { server in
            let answer = try await caller().send(
                HTTPCall(method: .post, url: "http://127.0.0.1:\(server.port)/", body: body)
            )
            #expect(answer.body == body)
        }
    }

    @Test func connectionsAreUsedAgain() async throws {
        try await withServer { server in
            let caller = caller()
            for number in 0..<5 {
                let answer = try await caller.send(HTTPCall(url: "http://127.0.0.1:\(server.port)/\(number)"))
                #expect(answer.status == .ok)
            }
            let accepted = server.events.all.filter { if case .accepted = $0 { true } else { false } }
            #expect(accepted.count == 1)
        }
    }

    @Test func manyCallsAtOnceAreAllAnswered() async throws {
        try await withServer { server in
            let caller = caller()
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let url = "http://127.0.0.1:\(server.port)/\(number)"
                        return String(decoding: try await caller.send(HTTPCall(url: url)).body, as: UTF8.self)
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(answers == Set((0..<200).map { "GET /\($0) " }))
        }
    }

    @Test func everyAddressIsAskedFor() async throws {
        let asked = Mutex<[HTTPRemote]>([])
        try await withServer { server in
            let caller = caller { settings in
                settings.allows = { remote in
                    asked.withLock { $0.append(remote) }
                    return true
                }
            }
            _ = try await caller.send(HTTPCall(url: "http://127.0.0.1:\(server.port)/"))
            #expect(asked.withLock { $0 } == [HTTPRemote(address: [127, 0, 0, 1], port: server.port)])
        }
    }

    @Test func aHandlerCanStandForTheNetwork() async throws {
        let caller = HTTPCaller(
            handler: HTTPHandler { request in
                HTTPResponse(.ok, fields: ["X-Host": request.fields["Host"] ?? ""], body: [UInt8](request.path.utf8))
            }
        )
        let answer = try await caller.send(HTTPCall(url: "https://example.com:8443/a/b?c"))
        #expect(answer.fields["X-Host"] == "example.com:8443")
        #expect(answer.body == Array("/a/b".utf8))
        await #expect(throws: HTTPCallFailure.invalidCall) { try await caller.send(HTTPCall(url: "ftp://a/")) }
    }

    @Test func aProxyIsAskedForTheWholeAddress() async throws {
        let seen = Recorder<String>()
        let proxy = try RawServer { client in
            seen.append(client.readHead() ?? "")
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let answer = try await caller { $0.proxy = proxy.url("") }.send(HTTPCall(url: "http://shop.invalid/hook"))
        #expect(answer.body == Array("ok".utf8))
        #expect(seen.all.first?.hasPrefix("GET http://shop.invalid/hook HTTP/1.1\r\n") == true)
    }
}
