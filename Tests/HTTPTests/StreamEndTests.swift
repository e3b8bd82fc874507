import HTTP
import Testing

/// How streams end: by their source, by their client, by a stop.
@Suite(.serialized) struct StreamEndTests {
    enum Manner: CaseIterable {
        case closing
        case reset
        /// Ends its own side: who reads an endless body and will ask nothing more cannot be told from who left.
        case finishing
        case resetAfterMore
        case closingAfterMore
    }

    @Test(arguments: Manner.allCases)
    func leavingCancelsTheSource(_ manner: Manner) async throws {
        let feed = Feed(["a"])
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send(Feed.request())
            if manner == .resetAfterMore || manner == .closingAfterMore { client.send(Feed.request("/next")) }
            #expect(try await blocking { client.readHead() != nil && client.chunk() == Array("a".utf8) })
            try await feed.told.wait(for: 2) { $0 == "asked" }
            switch manner {
            case .closing, .closingAfterMore: client.close()
            case .reset, .resetAfterMore: client.reset()
            case .finishing: client.finish()
            }
            try await feed.told.wait { $0 == "cancelled" }
            #expect(try await server.streamed()?.end == .left)
            if manner == .finishing { #expect(try await blocking { client.readToEnd().bytes }.isEmpty) }
        }
        #expect(feed.told.all == ["asked", "asked", "cancelled"])
    }

    /// A client that left while a chunk waits for it is noticed before the time for writing is over.
    @Test(arguments: [RawClient.close, RawClient.reset])
    func leavingInTheMiddleOfAChunkEndsTheStream(leave: @Sendable (RawClient) -> () -> Void) async throws {
        let told = Recorder<String>()
        try await withServer(.quick, Feed.endless(bytes: 1 << 20, told)) { server in
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Feed.request())
            _ = try await blocking { client.readHead() }
            leave(client)()
            #expect(try await server.streamed()?.end == .left)
        }
    }

    @Test func whoEndedItsSideBeforeTheStreamGetsNone() async throws {
        let feed = Feed(["a"])
        let told = Recorder<String>()
        let handler = HTTPHandler { _ in
            told.append("in")
            // Until the client has left.
            try? await Task.sleep(for: .seconds(30))
            return HTTPResponse(.ok, stream: feed.stream)
        }
        try await withServer(.quick, handler) { server in
            let client = try RawClient(port: server.port)
            client.send(Feed.request())
            try await told.wait { $0 == "in" }
            client.finish()
            #expect(try await blocking { client.readToEnd().bytes }.isEmpty)
            try await server.events.wait { if case .unanswered = $0 { true } else { false } }
        }
        #expect(feed.told.all == [])
    }

    @Test(arguments: ["1.1", "1.0"])
    func aBrokenSourceShows(version: String) async throws {
        let feed = Feed(["hello"], then: .failure)
        try await withServer(.quick, feed.handler) { server in
            let client = try RawClient(port: server.port)
            client.send(Feed.request(version: version))
            let (bytes, end) = try await blocking { client.readToEnd() }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.hasSuffix("0\r\n\r\n"))
            // Nothing but the connection's end says that a body without chunks is over.
            if version == "1.0" { #expect(end == .reset) } else { #expect(text.hasSuffix("5\r\nhello\r\n")) }
            #expect(try await server.streamed()?.end == .broken)
            #expect(try await server.exchange("GET / HTTP/1.0\r\n\r\n").responses.map(\.status) == [200])
        }
    }

    /// A place in the table of connections serves the next client, and no chunk of the last.
    @Test func aLateChunkFindsNobody() async throws {
        let gate = Gate()
        let told = Recorder<String>()
        let handler = HTTPHandler { request in
            let path = request.path
            return HTTPResponse(
                .ok,
                stream: HTTPStream { () async throws(HTTPStream.Broken) in
                    told.append(path)
                    if path == "/first" { await gate.pass() }
                    if told.all.filter({ $0 == "/second" }).count > 1 { return nil }
                    return Array(path.utf8)
                }
            )
        }
        try await withServer(.quick, handler) { server in
            let first = try RawClient(port: server.port)
            first.send(Feed.request("/first"))
            try await told.wait { $0 == "/first" }
            first.reset()
            #expect(try await server.streamed()?.end == .left)
            let second = try RawClient(port: server.port)
            gate.open()
            second.send(Feed.request("/second"))
            let isRight = try await blocking {
                second.readHead() != nil && second.chunk() == Array("/second".utf8) && second.chunk() == []
            }
            #expect(isRight)
        }
    }

    /// A source that does not heed its cancellation holds its place among the streams.
    @Test func leaversCannotPileUpSources() async throws {
        var limits = HTTPLimits.quick
        limits.streams = 1
        let gate = Gate()
        let handler = HTTPHandler { _ in
            HTTPResponse(
                .ok,
                stream: HTTPStream { () async throws(HTTPStream.Broken) in
                    await gate.pass()
                    return nil
                }
            )
        }
        try await withServer(limits, handler) { server in
            let leaver = try RawClient(port: server.port)
            leaver.send(Feed.request())
            _ = try await blocking { leaver.readHead() }
            leaver.reset()
            #expect(try await server.streamed()?.end == .left)
            #expect(try await server.exchange(Feed.request(version: "1.0")).responses.map(\.status) == [503])
            gate.open()
        }
    }

    // MARK: A stop

    /// The limit of a stop is a minute here, so that who waits for it is seen.
    @Test func aStopEndsSilentStreamsAtOnce() async throws {
        let feeds = [Feed(["a"]), Feed(["a"]), Feed(["a"])]
        let handler = HTTPHandler { request in
            HTTPResponse(.ok, stream: feeds[Int(request.path.dropFirst()) ?? 0].stream)
        }
        let server = try TestServer(.quick, handler)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            defer { server.listener.stop() }
            let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
            for (number, client) in clients.enumerated() { client.send(Feed.request("/\(number)")) }
            #expect(try await blocking { clients.allSatisfy { $0.readHead() != nil && $0.chunk() != nil } })
            for feed in feeds { try await feed.told.wait(for: 2) { $0 == "asked" } }
            let clock = ContinuousClock()
            let began = clock.now
            server.listener.stop()
            let ends = try await blocking { clients.map { $0.readToEnd() } }
            #expect(ends.allSatisfy { String(decoding: $0.bytes, as: UTF8.self) == "0\r\n\r\n" && $0.end == .closed })
            try await group.waitForAll()
            #expect(began.duration(to: clock.now) < .seconds(30))
        }
        #expect(feeds.allSatisfy { $0.told.all.last == "cancelled" })
        for case .streamed(_, _, let end, _, _) in server.events.all { #expect(end == .stopped) }
    }

    /// Whoever is in the middle of a chunk gets the rest of it, and the end.
    @Test func aStopEndsStreamsBetweenTwoChunks() async throws {
        let told = Recorder<String>()
        let size = 3 << 20
        let server = try TestServer(.quick, Feed.endless(bytes: size, told))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            defer { server.listener.stop() }
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Feed.request())
            _ = try await blocking { client.readHead() }
            server.listener.stop()
            let chunks = try await blocking {
                pause(milliseconds: 100)
                var chunks: [Int] = []
                while let chunk = client.chunk() { chunks.append(chunk.count) }
                return chunks
            }
            #expect(chunks.last == 0 && chunks.dropLast().allSatisfy { $0 == size })
            try await group.waitForAll()
            #expect(try await server.streamed()?.end == .stopped)
        }
    }

    @Test func aStopHasAnEndForWhoDoesNotRead() async throws {
        var limits = HTTPLimits.quick
        limits.drain = .milliseconds(300)
        let told = Recorder<String>()
        let server = try TestServer(limits, Feed.endless(bytes: 8 << 20, told))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            defer { server.listener.stop() }
            let client = try RawClient(port: server.port, receiveBuffer: 4_096)
            client.send(Feed.request())
            _ = try await blocking { client.readHead() }
            server.listener.stop()
            try await group.waitForAll()
            #expect(try await server.streamed()?.end == .stopped)
        }
    }
}
