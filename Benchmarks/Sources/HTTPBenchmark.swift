import Foundation

/// Purchases over HTTP until they are durable: Assay beside what a team would write, on the same machine at the same
/// time, with the same tokens.
///
/// What counts is the CPU time that the server and all its processes spend on a request. Requests a second depend on
/// how many cores there are, and on the load generator, which runs on the same ones.
struct HTTPBenchmark {
    let samples: Samples
    let servers: ServerFolder
    var rounds = 3

    static let connections = [1, 64, 512]

    private static let own = Purchases.Target(
        path: "/v1/purchases",
        key: ServerFolder.key,
        customerMember: "customer_id"
    )
    private static let other = Purchases.Target(path: "/purchases", key: nil, customerMember: "customer")

    /// How many requests of one round, by connections: enough for two seconds or so.
    private static func requests(_ connections: Int, isPeer: Bool) -> Int {
        switch (connections, isPeer) {
        case (1, false): 3_000
        case (_, false): 15_000
        case (1, true): 400
        case (_, true): 1_500
        }
    }

    func run(withPeer: Bool) throws -> [Section] {
        let perRound = HTTPBenchmark.connections.map { HTTPBenchmark.requests($0, isPeer: false) }.reduce(0, +)
        let purchases = try Purchases(samples, count: rounds * perRound + 3_000)
        let assay = try servers.startAssay(trusting: samples.authority)
        defer { assay.stop() }
        let peer = withPeer ? try servers.startPeer() : nil
        defer { peer?.stop() }
        try assay.waitUntilLive(seconds: 30)
        // Long, because what it is made of may have to be fetched first.
        try peer?.waitUntilLive(seconds: 600)
        let atStart = assay.memory.residentBytes

        var table = RoundTable()
        // The first round is there to warm up, and is short.
        for round in 0...rounds {
            for connections in HTTPBenchmark.connections {
                table.isCounting = round > 0
                try measure(assay, peer, connections, share: round == 0 ? 20 : 1, purchases, &table)
            }
        }
        return [table.section] + (withPeer ? [table.comparison] : []) + [memory(assay, atStart)]
    }

    /// For a profiler: only Assay, with so many connections.
    func profile(connections: Int, requests: Int) throws {
        let purchases = try Purchases(samples, count: requests)
        let assay = try servers.startAssay(trusting: samples.authority)
        defer { assay.stop() }
        try assay.waitUntilLive(seconds: 30)
        let load = try load(assay, connections, requests) { purchases.compose($0, HTTPBenchmark.own, into: &$1) }
        FileHandle.standardError.write(Data("\(load.cpuSeconds / Double(requests) * 1e6) µs each\n".utf8))
    }

    /// Each of them once, one after the other: what disturbs one of them disturbs its neighbours as well.
    private func measure(
        _ assay: ServedProcess,
        _ peer: ServedProcess?,
        _ connections: Int,
        share: Int,
        _ purchases: Purchases,
        _ table: inout RoundTable
    ) throws {
        let count = HTTPBenchmark.requests(connections, isPeer: false) / share
        let numbers = try purchases.take(count)
        let load = try load(assay, connections, count) { index, request in
            purchases.compose(numbers.lowerBound + index, HTTPBenchmark.own, into: &request)
        }
        table.add(.assay, connections, load)
        if let peer {
            let count = HTTPBenchmark.requests(connections, isPeer: true) / share
            let load = try self.load(peer, connections, count) { index, request in
                purchases.compose(numbers.lowerBound + index, HTTPBenchmark.other, into: &request)
            }
            table.add(.peer, connections, load)
        }
        let idle = try self.load(assay, connections, count) { _, request in request += LoadGenerator.livez }
        table.add(.livez, connections, idle)
    }

    private func load(
        _ server: ServedProcess,
        _ connections: Int,
        _ requests: Int,
        compose: (Int, inout [UInt8]) -> Void
    ) throws -> RoundTable.Load {
        try server.measure {
            let before = server.tree
            let result = try LoadGenerator(port: server.port).run(
                connections: connections,
                requests: requests,
                compose: compose
            )
            let after = server.tree
            guard result.failures == 0 else {
                throw BenchmarkFailure("\(result.failures) of \(requests) failed, first: \(result.firstFailure)")
            }
            return RoundTable.Load(
                result: result,
                cpuSeconds: after.cpuSeconds - before.cpuSeconds,
                databaseSeconds: after.cpuSeconds(of: "postgres") - before.cpuSeconds(of: "postgres")
            )
        }
    }

    private func memory(_ assay: ServedProcess, _ atStart: Int) -> Section {
        let mebibyte = Double(1 << 20)
        return Section(
            "Memory of `assay serve`",
            columns: ["MiB"],
            rows: [
                .init(name: "after the start", values: [Double(atStart) / mebibyte]),
                .init(name: "after the load", values: [Double(assay.memory.residentBytes) / mebibyte]),
                .init(name: "at most", values: [Double(assay.memory.peakResidentBytes) / mebibyte]),
            ],
            goal: "less than 40 MiB when idle"
        )
    }
}
