import Dispatch
import HTTP
import TestSupport
import Testing

/// However the bytes of requests arrive, the requests are the same.
@Suite(.serialized) struct SplittingTests {
    /// Each cut on a connection of its own, all at once, so that there is one wait for all of them.
    @Test(arguments: FramingTests.Good.all)
    func aRequestMayArriveInTwoPieces(_ row: FramingTests.Good) async throws {
        try await withServer { server in
            let port = server.port
            let bytes = Array(row.wire.utf8)
            let answers = try await blocking {
                let clients = try (1..<bytes.count).map { _ in try RawClient(port: port) }
                for (cut, client) in zip(1..., clients) { client.send(Array(bytes[..<cut])) }
                pause(milliseconds: 30)
                for (cut, client) in zip(1..., clients) { client.send(Array(bytes[cut...])) }
                return clients.map { $0.finalResponse()?.text }
            }
            #expect(answers == Array(repeating: row.answer, count: bytes.count - 1))
        }
    }

    @Test(arguments: FramingTests.Good.all)
    func aRequestMayArriveByteByByte(_ row: FramingTests.Good) async throws {
        try await withServer { server in
            let port = server.port
            let answer = try await blocking {
                let client = try RawClient(port: port)
                for byte in row.wire.utf8 {
                    client.send([byte])
                    pause(milliseconds: 1)
                }
                return client.finalResponse()?.text
            }
            #expect(answer == row.answer)
        }
    }

    /// A bad request stays bad, and nothing of it becomes a request.
    @Test(arguments: FramingTests.Bad.all)
    func aBadRequestMayArriveInPieces(_ row: FramingTests.Bad) async throws {
        try await withServer { server in
            let port = server.port
            let bytes = Array((row.wire + FramingTests.follower).utf8)
            let ends = Array(stride(from: 1, to: bytes.count, by: max(1, bytes.count / 40)))
            let statuses = try await blocking {
                let clients = try ends.map { _ in try RawClient(port: port) }
                for (cut, client) in zip(ends, clients) { client.send(Array(bytes[..<cut])) }
                pause(milliseconds: 20)
                for (cut, client) in zip(ends, clients) { client.send(Array(bytes[cut...])) }
                return clients.map { RawResponse.all(in: $0.readToEnd().bytes).map(\.status) }
            }
            #expect(statuses == Array(repeating: [row.refusal.status.rawValue], count: ends.count))
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func requestsMayArriveTogetherAndInAnyPieces(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var rows: [FramingTests.Good] = []
        for _ in 0..<Int.random(in: 2...40, using: &random) {
            if let row = FramingTests.Good.all.randomElement(using: &random) { rows.append(row) }
        }
        var rest = Array(rows.map(\.wire).joined().utf8)[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...200, using: &random)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        let sent = pieces
        let expected = rows.map(\.answer) + ["GET /follower "]
        try await withServer { server in
            let port = server.port
            let answers = try await blocking {
                let client = try RawClient(port: port)
                for piece in sent { client.send(piece) }
                client.send(FramingTests.follower)
                return RawResponse.all(in: client.readToEnd().bytes).map(\.text)
            }
            #expect(answers == expected)
        }
    }

    @Test func fiveThousandRequestsMayArriveAtOnce() async throws {
        try await withServer { server in
            let port = server.port
            let answers = try await blocking {
                let client = try RawClient(port: port)
                let wire = (0..<5_000).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
                // Sent beside the reading: both buffers of the connection may fill.
                DispatchQueue(label: "sender").async { client.send(wire + FramingTests.follower) }
                return RawResponse.all(in: client.readToEnd().bytes).map(\.text)
            }
            #expect(answers == (0..<5_000).map { "GET /\($0) " } + ["GET /follower "])
        }
    }
}
