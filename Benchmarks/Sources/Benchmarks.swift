import Foundation
import Verification

/// Measures Assay, always beside something else that is measured at the same time.
///
///     Benchmarks [verify] [steps] [receipts] [http] [peer]
///
/// Without words all of it. Tables are printed; `.build/bench/results.json` has the same figures.
@main struct Benchmarks {
    static func main() async throws {
        let chosen = Set(CommandLine.arguments.dropFirst())
        func isChosen(_ name: String) -> Bool { chosen.isEmpty || chosen.contains(name) }
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)

        let samples = try Samples(tokensCount: 64)
        if chosen.contains("profile") { return try profile(samples) }
        var report = Report(folder: folder)
        let verify = VerifyBenchmark(samples: samples)
        if isChosen("verify") { report.add(try verify.tokens()) }
        if isChosen("steps") { report.add(try verify.steps()) }
        if isChosen("receipts") { for section in try verify.receipts() { report.add(section) } }
        if isChosen("http") || chosen.contains("peer") {
            let products = Bundle.main.executableURL?.deletingLastPathComponent().path ?? "."
            let run = folder + "/run-\(getpid())"
            try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: run) }
            let http = HTTPBenchmark(samples: samples, folder: run, products: products)
            for section in try http.run(withPeer: isChosen("peer")) { report.add(section) }
        }
        try report.write()
    }

    /// For a profiler: nothing but this. `Benchmarks profile tokens 10000`, `Benchmarks profile 500 100` (purchases).
    private static func profile(_ samples: Samples) throws {
        let words = CommandLine.arguments.drop { $0 != "profile" }.dropFirst()
        guard let what = words.first, let count = words.last.flatMap({ Int($0) }) else {
            throw BenchmarkFailure("profile what, and how often?")
        }
        let verifier = try samples.verifier()
        let proofs = try Int(what).map { [try samples.receipt(purchases: $0)] } ?? samples.tokens
        for index in 0..<count { _ = verifier.examine(proofs[index % proofs.count], expecting: Samples.expectation) }
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
        say(section.text)
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

    private static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return String(text.split(separator: " ").first ?? "?")
    }
}
