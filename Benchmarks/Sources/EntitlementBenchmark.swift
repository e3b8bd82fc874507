import Foundation
import Glibc
import PurchaseModel
import Simulator

/// "What may this customer use?" over HTTP, beside a handler that does nothing, in turns against one server.
struct EntitlementBenchmark {
    let samples: Samples
    let servers: ServerFolder
    var rounds = 5

    private static let customers = 1_000
    private static let connections = 64
    private static let requests = 20_000

    func run() throws -> Section {
        let assay = try servers.startAssay(trusting: samples.authority, giving: "premium")
        defer { assay.stop() }
        try assay.waitUntilLive(seconds: 30)
        try buy(from: assay)
        let reads = (0..<Self.customers).map { Self.read("customer-\($0)") }
        var read: [Double] = []
        var idle: [Double] = []
        // The first round is there to warm up.
        for round in 0...rounds {
            let one = try rate(assay) { number, request in request += reads[number % reads.count] }
            let other = try rate(assay) { _, request in request += LoadGenerator.livez }
            guard round > 0 else { continue }
            read.append(one)
            idle.append(other)
        }
        let ratio = RoundTable.median(zip(read, idle).map { $0 / $1 })
        return Section(
            "Entitlements over HTTP",
            columns: ["per second", "of /livez"],
            rows: [
                .init(name: "GET …/entitlements", values: [RoundTable.median(read), ratio]),
                .init(name: "GET /livez", values: [RoundTable.median(idle), 1]),
            ],
            goal: "at least 0.7 of the handler that does nothing"
        )
    }

    /// Every customer has a subscription that is in force.
    private func buy(from assay: ServedProcess) throws {
        let end = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + 31_536_000_000)
        let posts = try (0..<Self.customers).map { number in
            var sold = Samples.renewal(1_000 + number)
            sold.expiresAt = end
            sold.offer = nil
            let body = #"{"proof":"\#(try samples.signer.transaction(sold))","customer_id":"customer-\#(number)"}"#
            return Self.head("POST", "/v1/purchases")
                + Array("Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        }
        let result = try LoadGenerator(port: assay.port).run(connections: 16, requests: posts.count) {
            number,
            request in
            request += posts[number]
        }
        guard result.failures == 0 else { throw BenchmarkFailure("not bought: \(result.firstFailure)") }
        var connection = try LoadConnection(port: assay.port)
        defer { close(connection.socket) }
        try connection.send { $0 += Self.read("customer-0") }
        while try connection.receive() == nil {}
        guard connection.text.contains("\"premium\"") else {
            throw BenchmarkFailure("nothing is in force: \(connection.text)")
        }
    }

    private static func read(_ customer: String) -> [UInt8] {
        head("GET", "/v1/customers/\(customer)/entitlements") + Array("\r\n".utf8)
    }

    private static func head(_ method: String, _ path: String) -> [UInt8] {
        Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(ServerFolder.key)\r\n".utf8)
    }

    private func rate(_ assay: ServedProcess, compose: (Int, inout [UInt8]) -> Void) throws -> Double {
        try assay.measure {
            let result = try LoadGenerator(port: assay.port).run(
                connections: Self.connections,
                requests: Self.requests,
                compose: compose
            )
            guard result.failures == 0 else { throw BenchmarkFailure("failed: \(result.firstFailure)") }
            return Double(result.requests) / result.seconds
        }
    }
}
