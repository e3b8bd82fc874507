import Foundation
import Verification

/// Measures Assay, always beside something else that is measured at the same time.
///
///     Benchmarks [verify] [steps] [receipts] [signing] [store] [stream] [outbox] [looks] [memory] [http] [entitlements]
///         [apple] [peer] [large] [grown]
///
/// Without words all of it but `peer`, which downloads what it is made of, and `large` and `grown`, which take a quarter
/// of an hour and many GB; with a number behind them, so many purchases. Tables are printed; `.build/bench/results.json`
/// has the same figures.
@main struct Benchmarks {
    /// What runs only by its name.
    private static let more = ["peer", "large", "grown"]
    private static let sections = [
        "verify", "steps", "receipts", "signing", "store", "stream", "outbox", "looks", "memory",
        "http", "entitlements", "apple",
    ]

    static func main() async {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            let folder = FileManager.default.currentDirectoryPath + "/.build/bench"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // How the section of that name calls this program.
            if words.first == "memory", words.count > 1, words[1].hasPrefix("/") {
                return try MemoryBenchmark.verifyAlone(Array(words.dropFirst()))
            }
            let samples = try Samples(tokensCount: 64)
            if words.first == "profile" {
                try await profile(Array(words.dropFirst()), samples, folder)
            } else {
                try await run(words, samples, folder)
            }
        } catch {
            FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ words: [String], _ samples: Samples, _ folder: String) async throws {
        let takesNumber = words.contains("large") || words.contains("grown")
        let numbers = takesNumber ? words.compactMap { Int($0) } : []
        let words = words.filter { Int($0) == nil || numbers.isEmpty }
        let unknown = words.filter { !(sections + more).contains($0) }
        guard unknown.isEmpty else { throw BenchmarkFailure("there is no section \(unknown.joined(separator: ", "))") }
        func isChosen(_ name: String) -> Bool { words.isEmpty || words.contains(name) }

        var report = Report(folder: folder)
        let verify = VerifyBenchmark(samples: samples)
        if isChosen("verify") { report.add(try verify.tokens()) }
        if isChosen("steps") { report.add(try verify.steps()) }
        if isChosen("receipts") { for section in try verify.receipts() { report.add(section) } }
        if isChosen("signing") {
            report.add(try SigningBenchmark(authority: samples.authority).run())
            report.add(try await SimulatorBenchmark(authority: samples.authority).run())
        }
        if isChosen("store") {
            let store = StoreBenchmark(samples: samples, folder: folder)
            report.add(try store.decisions())
            for choice in StoreChoice.available { report.add(try await store.batches(choice)) }
        }
        if isChosen("stream") {
            let stream = StreamBenchmark(samples: samples, folder: folder)
            for choice in StoreChoice.available { report.add(try await stream.run(choice)) }
        }
        if isChosen("outbox") {
            for section in try await OutboxBenchmark(folder: folder).run() { report.add(section) }
        }
        if isChosen("looks") {
            report.add(LookPlan.section())
            report.add(try await LookBenchmark(folder: folder).run())
        }
        if isChosen("memory") {
            let servers = try serverFolder(in: folder)
            defer { servers.remove() }
            let executable = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
            report.add(try MemoryBenchmark(samples: samples, servers: servers, executable: executable).run())
        }
        if isChosen("http") || words.contains("peer") {
            let servers = try serverFolder(in: folder)
            defer { servers.remove() }
            let http = HTTPBenchmark(samples: samples, servers: servers)
            for section in try http.run(withPeer: words.contains("peer")) { report.add(section) }
        }
        if isChosen("entitlements") {
            let servers = try serverFolder(in: folder)
            defer { servers.remove() }
            report.add(try EntitlementBenchmark(samples: samples, servers: servers).run())
        }
        if isChosen("apple") {
            let benchmark = AppleBenchmark(samples: samples) { try serverFolder(in: folder, named: $0) }
            report.add(try await benchmark.run())
        }
        try await addOfSize(numbers.first ?? 1_000_000, words, samples, folder, to: &report)
        try report.write()
    }

    /// The sections that are about ledgers of a size.
    private static func addOfSize(
        _ purchases: Int,
        _ words: [String],
        _ samples: Samples,
        _ folder: String,
        to report: inout Report
    ) async throws {
        if words.contains("large") {
            let servers = try serverFolder(in: folder)
            defer { servers.remove() }
            let large = LargeBenchmark(samples: samples, folder: folder, servers: servers, purchases: purchases)
            for section in try await large.run() { report.add(section) }
        }
        if words.contains("grown") {
            let grown = GrownBenchmark(samples: samples, folder: folder, purchases: purchases)
            for choice in StoreChoice.available {
                for section in try await grown.run(choice) { report.add(section) }
            }
        }
    }

    /// For a profiler, nothing but one thing: `profile tokens 10000`, `profile 500 100` (purchases in a receipt, how
    /// often), `profile decide 1 10000` (purchases in a receipt, receipts), `profile known 500 1000` (receipts that the ledger
    /// has), `profile periods 500 1000` (periods of one subscription), `profile record 256 20000` (purchases in a commit, and in
    /// all), `profile http 64 20000` (connections, requests).
    private static func profile(_ words: [String], _ samples: Samples, _ folder: String) async throws {
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard let what = words.first, let count = numbers.last else {
            throw BenchmarkFailure("profile what, and how often?")
        }
        if what == "http" {
            let servers = try serverFolder(in: folder)
            defer { servers.remove() }
            return try HTTPBenchmark(samples: samples, servers: servers)
                .profile(connections: numbers[0], requests: count)
        }
        if what == "record" {
            guard let choice = StoreChoice.available.first else { throw BenchmarkFailure("no store of that name") }
            return try await StoreBenchmark(samples: samples, folder: folder)
                .profileRecording(choice, count, batch: numbers[0])
        }
        if what == "decide" || what == "known" || what == "periods" {
            return try StoreBenchmark(samples: samples, folder: folder)
                .profileDecisions(count, of: numbers[0], known: what == "known", isOneChain: what == "periods")
        }
        let verifier = try samples.verifier()
        let proofs = try Int(what).map { [try samples.receipt(purchases: $0)] } ?? samples.tokens
        for index in 0..<count { _ = verifier.examine(proofs[index % proofs.count], expecting: Samples.expectation) }
    }

    private static func serverFolder(in folder: String, named name: String = "run") throws -> ServerFolder {
        let products = Bundle.main.executableURL?.deletingLastPathComponent().path ?? "."
        return try ServerFolder(path: folder + "/\(name)-\(getpid())", products: products)
    }
}

/// Prints each table when it is there, and keeps it.
private struct Report {
    let folder: String
    private var sections: [Section] = []

    init(folder: String) {
        self.folder = folder
        say("\(Machine.description)\n")
    }

    mutating func add(_ section: Section) {
        say(section.text + "(load \(Machine.load))")
        sections.append(section)
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let path = folder + "/results.json"
        try encoder.encode(Results(machine: Machine.description, sections: sections))
            .write(to: URL(fileURLWithPath: path))
        say("\nwritten to \(path)")
    }

    /// Unlike `print`, at once, also through a pipe.
    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private struct Results: Encodable {
        let machine: String
        let sections: [Section]
    }
}

/// Where it was measured, for the head of the report.
private enum Machine {
    static var description: String {
        let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = info.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "?"
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return "\(Date().ISO8601Format()), \(cores) cores of\(model), load \(load)"
    }

    /// How many others want the cores as well, over the last minute.
    static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return String(text.split(separator: " ").first ?? "?")
    }
}
