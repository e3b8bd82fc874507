import Encoding
import Foundation
import PurchaseModel
import Simulator

/// Purchases over HTTP until they are durable: Assay beside what a team would write, on the same machine at the same
/// time, with the same tokens.
///
/// What counts is the CPU time that the server and all its processes spend on a request. Requests a second depend on
/// how many cores there are, and on the load generator, which runs on the same ones.
struct HTTPBenchmark {
    let samples: Samples
    let folder: String
    /// Where `assay` was built.
    let products: String
    var rounds = 3

    private static let connections = [1, 64, 512]
    private static let key = "benchmark-benchmark-benchmark-32"
    private static let (assayPort, peerPort): (UInt16, UInt16) = (18_080, 18_090)

    /// How many requests of one round, by connections: enough for two seconds or so.
    private static func requests(_ connections: Int, isPeer: Bool) -> Int {
        switch (connections, isPeer) {
        case (1, false): 2_000
        case (_, false): 15_000
        case (1, true): 300
        case (_, true): 1_500
        }
    }

    func run(withPeer: Bool) throws -> [Section] {
        let perRound = HTTPBenchmark.connections.map { HTTPBenchmark.requests($0, isPeer: false) }.reduce(0, +)
        let purchases = try Purchases(samples, count: rounds * perRound + 2_000)
        let assay = try startAssay()
        defer { assay.stop() }
        let peer = withPeer ? try startPeer() : nil
        defer { peer?.stop() }
        try assay.waitUntilLive(seconds: 30)
        try peer?.waitUntilLive(seconds: 600)
        let atStart = assay.residentBytes

        let own = Purchases.Target(path: "/v1/purchases", key: HTTPBenchmark.key, customerMember: "customer_id")
        let other = Purchases.Target(path: "/purchases", key: nil, customerMember: "customer")
        var table = RoundTable()
        for round in 0...rounds {
            for connections in HTTPBenchmark.connections {
                // The first round is there to warm up, and is short.
                let share = round == 0 ? 10 : 1
                let count = HTTPBenchmark.requests(connections, isPeer: false) / share
                let numbers = try purchases.take(round == 0 ? count / 2 : count)
                let isCounted = round > 0
                try measure(assay, connections, numbers.count, "assay", isCounted, &table) { index, request in
                    purchases.compose(numbers.lowerBound + index, own, into: &request)
                }
                if let peer {
                    let count = min(numbers.count, HTTPBenchmark.requests(connections, isPeer: true) / share)
                    try measure(peer, connections, count, "peer", isCounted, &table) { index, request in
                        purchases.compose(numbers.lowerBound + index, other, into: &request)
                    }
                }
                try measure(assay, connections, numbers.count, "assay /livez", isCounted, &table) { _, request in
                    request += LoadGenerator.livez
                }
            }
        }
        return [table.section, memory(assay, atStart)]
    }

    private func measure(
        _ server: ServedProcess,
        _ connections: Int,
        _ requests: Int,
        _ name: String,
        _ isCounted: Bool,
        _ table: inout RoundTable,
        compose: (Int, inout [UInt8]) -> Void
    ) throws {
        let before = server.cpuSeconds
        let result = try LoadGenerator(port: server.port).run(
            connections: connections,
            requests: requests,
            compose: compose
        )
        let spent = server.cpuSeconds - before
        guard result.failures == 0 else { throw BenchmarkFailure("\(name): \(result.firstFailure)") }
        if isCounted { table.add("\(name), \(connections) connections", result, cpuSeconds: spent) }
    }

    private func memory(_ assay: ServedProcess, _ atStart: Int) -> Section {
        let mebibyte = Double(1 << 20)
        return Section(
            "Memory of `assay serve`",
            columns: ["MiB"],
            rows: [
                .init(name: "after the start", values: [Double(atStart) / mebibyte]),
                .init(name: "after the load", values: [Double(assay.residentBytes) / mebibyte]),
                .init(name: "at most", values: [Double(assay.peakResidentBytes) / mebibyte]),
            ],
            goal: "less than 40 MiB when idle"
        )
    }

    private func startAssay() throws -> ServedProcess {
        let roots = folder + "/roots"
        try FileManager.default.createDirectory(atPath: roots, withIntermediateDirectories: true)
        for (index, root) in try samples.authority.roots().enumerated() {
            try Data(root).write(to: URL(fileURLWithPath: roots + "/\(index).der"))
        }
        let configuration = JSONWriter.object { json in
            json.member("data", folder + "/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "game")
                    json.member("bundle_id", Samples.bundleID.text)
                    json.member("apple_id", Samples.appleID)
                    json.member("accept_test_signed", true)
                }
            }
            json.array("keys") { json in
                json.object { json in
                    json.member("name", "benchmark")
                    json.member("app", "game")
                    json.member("secret_file", folder + "/key")
                }
            }
            json.object("trust") { $0.member("roots", roots) }
        }
        let secret = [FileAttributeKey.posixPermissions: 0o600]
        guard
            FileManager.default.createFile(
                atPath: folder + "/key",
                contents: Data(HTTPBenchmark.key.utf8),
                attributes: secret
            ),
            FileManager.default.createFile(atPath: folder + "/assay.json", contents: Data(configuration))
        else { throw BenchmarkFailure("\(folder) cannot be written") }
        return try ServedProcess(
            products + "/assay",
            ["serve", "--config", folder + "/assay.json", "--listen", "127.0.0.1:\(HTTPBenchmark.assayPort)"],
            port: HTTPBenchmark.assayPort,
            log: folder + "/assay.log"
        )
    }

    private func startPeer() throws -> ServedProcess {
        let port = HTTPBenchmark.peerPort
        return try ServedProcess(
            "Benchmarks/peers/serve.sh",
            ["\(port)", folder + "/roots/0.der", Samples.bundleID.text, "\(Samples.appleID)"],
            port: port,
            log: folder + "/peer.log"
        )
    }
}

/// What was measured in several rounds, and the medians of it.
private struct RoundTable {
    private var names: [String] = []
    private var values: [String: [[Double]]] = [:]

    mutating func add(_ name: String, _ result: LoadGenerator.Result, cpuSeconds: Double) {
        if values[name] == nil { names.append(name) }
        let requests = Double(result.requests)
        values[name, default: []].append([
            requests / result.seconds, cpuSeconds / requests * 1e6, requests / cpuSeconds, result.median,
            result.percentile99,
        ])
    }

    var section: Section {
        let rows = names.map { name in
            let rounds = values[name] ?? []
            let medians = (0..<5).map { column in rounds.map { $0[column] }.sorted()[rounds.count / 2] }
            return Section.Row(name: name, values: medians)
        }
        return Section(
            "Purchases over HTTP, durable when answered",
            columns: ["per second", "CPU µs each", "per CPU second", "median ms", "p99 ms"],
            rows: rows,
            goal: "twenty times as many for each CPU second as the peer"
        )
    }
}
