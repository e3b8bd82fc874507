import Foundation
import HTTP
import Synchronization

/// Purchases over HTTP while Apple answers at once, after six seconds, or not at all.
///
/// One request in twenty carries a bare number, so that there is always something that only Apple can decide; and every
/// purchase recorded is a subscription that Apple is asked about.
struct AppleBenchmark: Sendable {
    let samples: Samples
    let folder: @Sendable (String) throws -> ServerFolder
    var rounds = 5

    private static let connections = 16
    private static let requests = 3_000
    private static let numberEvery = 20

    /// What stands in Apple's place does with a call.
    enum Mood: String, CaseIterable {
        case atOnce = "Apple answers at once"
        case late = "Apple answers after 6 s"
        case silent = "Apple does not answer"
    }

    func run() async throws -> Section {
        let apples = Mood.allCases.map { StandIn($0) }
        let listeners = try apples.map { try $0.listen() }
        let ports = listeners.map(\.port)
        let rows = try await withThrowingTaskGroup(of: Void.self) { group in
            for listener in listeners { group.addTask { await listener.run() } }
            defer { for listener in listeners { listener.stop() } }
            // The load blocks a thread for minutes, and there are as many for tasks as cores.
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try measure(apples, ports) }) }
            }
        }
        return Section(
            "Purchases over HTTP while Apple is asked about others, \(AppleBenchmark.connections) connections",
            columns: ["per second", "median ms", "p99 ms", "calls to Apple"],
            rows: rows,
            goal: "p99 the same, whatever Apple does"
        )
    }

    /// One server for each mood, so that none suffers from what another's Apple did a moment ago; turn by turn.
    private func measure(_ apples: [StandIn], _ ports: [UInt16]) throws -> [Section.Row] {
        let purchases = try Purchases(samples, count: (rounds + 1) * apples.count * AppleBenchmark.requests)
        let folders = try apples.indices.map { try folder("apple-\($0)") }
        defer { for folder in folders { folder.remove() } }
        let servers = try zip(folders, ports).map { try $0.startAssay(trusting: samples.authority, asking: $1) }
        defer { for server in servers { server.stop() } }
        for server in servers { try server.waitUntilLive(seconds: 30) }
        var found = apples.map { _ in [LoadGenerator.Result]() }
        // The first round is there to warm up.
        for round in 0...rounds {
            for place in servers.indices {
                let result = try load(servers[place], purchases)
                if round > 0 { found[place].append(result) }
            }
        }
        return zip(apples, found).map { apple, results in
            Section.Row(
                name: apple.mood.rawValue,
                values: [
                    median(results.map { Double($0.requests) / $0.seconds }), median(results.map(\.median)),
                    median(results.map(\.percentile99)), Double(apple.calls.load(ordering: .relaxed)),
                ]
            )
        }
    }

    private func load(_ assay: ServedProcess, _ purchases: Purchases) throws -> LoadGenerator.Result {
        let target = Purchases.Target(path: "/v1/purchases", key: ServerFolder.key, customerMember: "customer_id")
        let numbers = try purchases.take(AppleBenchmark.requests)
        return try assay.measure {
            let result = try LoadGenerator(port: assay.port).run(
                connections: AppleBenchmark.connections,
                requests: AppleBenchmark.requests,
                wanted: [200, 202]
            ) { index, request in
                let number = numbers.lowerBound + index
                if index % AppleBenchmark.numberEvery == 0 {
                    purchases.composeNumber(number, target, into: &request)
                } else {
                    purchases.compose(number, target, into: &request)
                }
            }
            guard result.failures == 0 else {
                throw BenchmarkFailure("\(result.failures) failed, first: \(result.firstFailure)")
            }
            return result
        }
    }

    private func median(_ values: [Double]) -> Double? { values.isEmpty ? nil : values.sorted()[values.count / 2] }
}

/// What stands in Apple's place: it knows no transaction, and says so when it is in the mood for it.
private final class StandIn: Sendable {
    let mood: AppleBenchmark.Mood
    let calls = Atomic(0)

    init(_ mood: AppleBenchmark.Mood) { self.mood = mood }

    func listen() throws(HTTPListenerFailure) -> HTTPListener {
        let handler = HTTPHandler { [self] _ in
            calls.add(1, ordering: .relaxed)
            switch mood {
            case .atOnce: break
            case .late: try? await Task.sleep(for: .seconds(6))
            case .silent: try? await Task.sleep(for: .seconds(3_600))
            }
            return HTTPResponse(.notFound, body: Array(#"{"errorCode":4040010,"errorMessage":"not found"}"#.utf8))
        }
        return try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: handler) { _ in }
    }
}
