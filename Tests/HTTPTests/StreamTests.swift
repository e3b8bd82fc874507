import HTTP
import TestSupport
import Testing

/// Answers that are made while they are sent.
@Suite(.serialized) struct StreamTests {
    @Test func chunksAreFramed() async throws {
        let feed = Feed(["hello", "", String(repeating: "x", count: 300)], then: .end)
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send(
                Feed.request() + Feed.request("/next") + "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            )
            let head = try #require(try await blocking { client.readHead() })
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("\r\nTransfer-Encoding: chunked"))
            #expect(head.contains("\r\nDate: "))
            #expect(!head.contains("Content-Length") && !head.contains("Connection"))
            let (bytes, end) = try await blocking { client.readToEnd() }
            let body = Array("5\r\nhello\r\n12c\r\n\(String(repeating: "x", count: 300))\r\n0\r\n\r\n".utf8)
            #expect(bytes.starts(with: body))
            // What was asked for behind the stream is answered behind it.
            #expect(RawResponse.all(in: Array(bytes.dropFirst(body.count))).map(\.text) == ["plain", "plain"])
            #expect(end == .closed)
            let over = try #require(try await server.streamed())
            #expect(over.end == .whole && over.bytes > body.count)
        }
        // Three chunks and the end.
        #expect(feed.told.all == Array(repeating: "asked", count: 4))
    }

    @Test func anOldClientReadsToTheEndOfTheConnection() async throws {
        let feed = Feed(["hello ", "world"], then: .end)
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let head = try #require(try await blocking { client.readHead() })
            #expect(head.contains("\r\nConnection: close"))
            #expect(!head.contains("Transfer-Encoding") && !head.contains("Content-Length"))
            let (bytes, end) = try await blocking { client.readToEnd() }
            #expect(String(decoding: bytes, as: UTF8.self) == "hello world")
            #expect(end == .closed)
        }
    }

    @Test func whoSaysCloseIsClosed() async throws {
        let feed = Feed(["a"], then: .end)
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send("GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let head = try #require(try await blocking { client.readHead() })
            #expect(head.contains("\r\nConnection: close") && head.contains("\r\nTransfer-Encoding: chunked"))
            let (bytes, end) = try await blocking { client.readToEnd() }
            #expect(String(decoding: bytes, as: UTF8.self) == "1\r\na\r\n0\r\n\r\n")
            #expect(end == .closed)
        }
    }

    @Test func aHeadIsAskedForNothing() async throws {
        let feed = Feed()
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send(Feed.request(method: "HEAD"))
            let head = try #require(try await blocking { client.readHead() })
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(!head.contains("Content-Length") && !head.contains("Transfer-Encoding"))
            client.send(Feed.request("/next"))
            #expect(try await blocking { client.response()?.text } == "plain")
        }
        #expect(feed.told.all == [])
    }

    /// A source may be as fast as it likes: it makes one chunk more than were written.
    @Test func nothingIsAskedForBeforeTheLastIsWritten() async throws {
        var limits = HTTPLimits.quick
        limits.write = .milliseconds(400)
        let told = Recorder<String>()
        try await withServer(limits, Feed.endless(bytes: 64 << 10, told)) { server in
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Feed.request())
            let over = try #require(try await server.streamed())
            #expect(over.end == .tooSlow)
            let written = Int(over.bytes) / (64 << 10)
            #expect(told.all.count == written + 1)
            // What has come is no whole body.
            let (bytes, end) = try await blocking { client.readToEnd() }
            #expect(end != .timeout && !bytes.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
        }
    }

    @Test func whoReadsAgainGetsEverything() async throws {
        let told = Recorder<String>()
        let count = 200
        let handler = HTTPHandler { _ in
            HTTPResponse(
                .ok,
                stream: HTTPStream { () async throws(HTTPStream.Broken) in
                    told.append("asked")
                    let number = told.all.count
                    return number > count ? nil : [UInt8](repeating: UInt8(number), count: 50_000)
                }
            )
        }
        try await withServer(.quick, handler) { server in
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Feed.request())
            let isRight = try await blocking {
                pause(milliseconds: 200)
                _ = client.readHead()
                return (1...count).allSatisfy { number in
                    client.chunk() == [UInt8](repeating: UInt8(number), count: 50_000)
                } && client.chunk() == []
            }
            #expect(isRight)
        }
    }

    /// However the request arrives, and whatever comes behind it.
    @Test func splitRequestsGetTheSameStream() async throws {
        let handler = HTTPHandler { request in
            let rest = Feed(["one", "two"], then: .end)
            return request.path == "/stream" ? HTTPResponse(.ok, stream: rest.stream) : HTTPResponse(.ok)
        }
        let wire = Array(
            (Feed.request() + Feed.request() + "GET /end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").utf8
        )
        try await withServer(.quick, handler) { server in
            let port = server.port
            let right = "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
            let wrong = try await blocking {
                var random = SeededRandom(seed: 3)
                return try (0..<60).filter { turn in
                    let client = try RawClient(port: port)
                    var rest = wire[...]
                    while !rest.isEmpty {
                        let piece = rest.prefix(Int.random(in: 1...40, using: &random))
                        client.send(Array(piece))
                        rest = rest.dropFirst(piece.count)
                        if turn % 3 == 0 { pause(milliseconds: 1) }
                    }
                    let text = String(decoding: client.readToEnd().bytes, as: UTF8.self)
                    return text.ranges(of: right).count != 2 || !text.hasSuffix("\r\n\r\n")
                }
            }
            #expect(wrong == [])
        }
    }

    @Test func twoHundredStreamsAtOnce() async throws {
        let feeds = Recorder<Feed>()
        let handler = HTTPHandler { request in
            guard request.path == "/stream" else { return HTTPResponse(.ok) }
            let feed = Feed()
            feeds.append(feed)
            return HTTPResponse(.ok, stream: feed.stream)
        }
        var limits = HTTPLimits.quick
        // Streams are no requests in flight: one more can always be answered.
        limits.requests = 250
        try await withServer(limits, handler) { server in
            let clients = try (0..<200).map { _ in try RawClient(port: server.port) }
            for client in clients { client.send(Feed.request()) }
            let heads = try await blocking { clients.map { $0.readHead() } }
            #expect(heads.allSatisfy { $0?.hasPrefix("HTTP/1.1 200") == true })
            for turn in 0..<10 {
                for feed in feeds.all { feed.give("turn \(turn)") }
                let chunks = try await blocking { clients.map { $0.chunk() } }
                #expect(chunks.allSatisfy { $0 == Array("turn \(turn)".utf8) })
            }
            #expect(try await server.exchange("GET / HTTP/1.0\r\n\r\n").responses.map(\.status) == [200])
            for feed in feeds.all { feed.give(.end) }
            #expect(try await blocking { clients.allSatisfy { $0.chunk() == [] } })
        }
    }

    @Test func oneStreamTooManyIsTurnedAwayAndMayStay() async throws {
        var limits = HTTPLimits.quick
        limits.streams = 1
        let (first, second) = (Feed(["a"]), Feed(["b"], then: .end))
        let turn = Recorder<Int>()
        let handler = HTTPHandler { request in
            guard request.path == "/stream" else { return HTTPResponse(.ok, body: Array("plain".utf8)) }
            turn.append(0)
            return HTTPResponse(.ok, stream: turn.all.count == 1 ? first.stream : second.stream)
        }
        try await withServer(limits, handler) { server in
            let holder = try RawClient(port: server.port)
            holder.send(Feed.request())
            #expect(try await blocking { holder.readHead() != nil && holder.chunk() == Array("a".utf8) })
            let client = try RawClient(port: server.port)
            client.send(Feed.request() + Feed.request("/next"))
            let refused = try #require(try await blocking { client.response() })
            #expect(refused.status == 503 && refused.fields["Retry-After"] == "10")
            #expect(refused.text.contains("too_many_streams"))
            #expect(try await blocking { client.response()?.text } == "plain")
            #expect(second.told.all == [])
            first.give(.end)
            #expect(try await blocking { holder.chunk() } == [])
            try await server.events.wait { if case .streamed = $0 { true } else { false } }
            // Its place is free a moment after that is told.
            let isLetIn = try await blocking {
                for _ in 0..<2_000 {
                    client.send(Feed.request())
                    if client.readHead()?.contains("chunked") == true { return client.chunk() == Array("b".utf8) }
                    pause(milliseconds: 5)
                }
                return false
            }
            #expect(isLetIn)
        }
    }

    @Test func aStatusWithoutBodyHasNoStream() async throws {
        let feed = Feed(["a"])
        let handler = HTTPHandler { _ in HTTPResponse(.noContent, stream: feed.stream) }
        try await withServer(.quick, handler) { server in
            let (responses, _) = try await server.exchange("GET / HTTP/1.0\r\n\r\n")
            #expect(responses.map(\.status) == [500])
            try await server.events.wait { if case .unsendable = $0 { true } else { false } }
        }
        #expect(feed.told.all == [])
    }
}
