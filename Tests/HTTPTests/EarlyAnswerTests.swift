import HTTP
import Testing

/// A client that is refused while it is still sending must be able to read why.
@Suite(.serialized) struct EarlyAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let start: String
        let filler: String
        let status: Int
        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "a body too large",
            start: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n",
            filler: String(repeating: "x", count: 1_000),
            status: 413
        ),
        Row(
            name: "chunks too many",
            start: "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
            filler: "3E8\r\n" + String(repeating: "x", count: 1_000) + "\r\n",
            status: 413
        ),
        Row(
            name: "a header too large",
            start: "GET /a HTTP/1.1\r\nHost: h\r\n",
            filler: "X: " + String(repeating: "x", count: 1_000) + "\r\n",
            status: 431
        ),
        Row(
            name: "a malformed request",
            start: "nonsense\r\n\r\n",
            filler: String(repeating: "x", count: 1_000),
            status: 400
        ),
    ]

    @Test(arguments: rows)
    func theAnswerIsReadableByWhoStillSends(_ row: Row) async throws {
        var limits = HTTPLimits.quick
        limits.linger = .seconds(5)
        try await withServer(limits) { server in
            let port = server.port
            let (bytes, end) = try await blocking {
                let client = try RawClient(port: port)
                client.send(row.start)
                // All of it before the answer is looked at, as many clients do.
                let isSent = (0..<2_500).allSatisfy { _ in client.send(row.filler) }
                #expect(isSent)
                client.finish()
                return client.readToEnd()
            }
            #expect(RawResponse.all(in: bytes).map(\.status) == [row.status])
            #expect(end == .closed)
        }
    }

    /// Also where the longest body is longer than what is read of nonsense.
    @Test func whoSendsALittleTooMuchReadsIt() async throws {
        var limits = HTTPLimits.quick
        limits.bodyBytes = 6 << 20
        limits.linger = .seconds(20)
        try await withServer(limits) { server in
            let port = server.port
            let status = try await blocking {
                let client = try RawClient(port: port)
                client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \((6 << 20) + 1)\r\n\r\n")
                let piece = [UInt8](repeating: 0x78, count: 1 << 16)
                let isSent = (0..<96).allSatisfy { _ in client.send(piece) } && client.send("x")
                return isSent ? client.response()?.status : nil
            }
            #expect(status == 413)
        }
    }

    @Test func whoSendsWithoutEndIsCutOff() async throws {
        try await withServer { server in
            let port = server.port
            let isSent = try await blocking {
                let client = try RawClient(port: port)
                client.send("nonsense\r\n\r\n")
                let megabyte = [UInt8](repeating: 0x78, count: 1 << 20)
                return (0..<100).allSatisfy { _ in client.send(megabyte) }
            }
            #expect(!isSent)
        }
    }
}
