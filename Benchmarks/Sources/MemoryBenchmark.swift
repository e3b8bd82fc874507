import Crypto
import Encoding
import Foundation
import Simulator
import Verification

/// How much memory a large receipt takes while it is verified, beside its own size.
///
/// Each figure is the growth of a process's resident memory, from just before to the peak. The kernel counts pages, and
/// counts them in batches, so what is small cannot be told exactly: hence the larger receipts, and several processes.
struct MemoryBenchmark {
    let samples: Samples
    let servers: ServerFolder
    /// This program, which is its own subject.
    let executable: URL
    var processes = 5

    private static let purchases = [500, 1_500]

    func run() throws -> Section {
        var rows: [Section.Row] = []
        for purchases in MemoryBenchmark.purchases {
            let receipt = try samples.receipt(purchases: purchases)
            let growth = try (0..<processes).map { _ in try growthOfVerifying(receipt) }
            rows.append(row("verify \(purchases) purchases", growth, receipt.count))
        }
        for purchases in MemoryBenchmark.purchases {
            let receipt = try samples.receipt(purchases: purchases)
            let growth = try (0..<processes).map { _ in try growthOfPosting(receipt) }
            rows.append(row("POST \(purchases) purchases until recorded", growth, receipt.count))
        }
        return Section(
            "Memory that a receipt takes beside itself",
            columns: ["receipt KiB", "grown KiB", "times its size"],
            rows: rows,
            goal: "at most 4 times its size"
        )
    }

    private func row(_ name: String, _ growth: [Int], _ size: Int) -> Section.Row {
        let median = growth.sorted()[growth.count / 2]
        return Section.Row(
            name: name,
            values: [Double(size) / 1_024, Double(median) / 1_024, Double(median) / Double(size)]
        )
    }

    private func growthOfVerifying(_ receipt: [UInt8]) throws -> Int {
        let files = [try samples.receipt(purchases: 1), receipt] + (try samples.authority.roots())
        let paths = try files.map { try servers.write("memory-\(UUID().uuidString)", $0) }
        let output = Pipe()
        let process = Process()
        process.executableURL = executable
        process.arguments = ["memory"] + paths
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let growth = Int(text.filter(\.isNumber)) else {
            throw BenchmarkFailure("the process that verifies failed")
        }
        return growth
    }

    /// What the process above does: it verifies a small receipt, so that everything is loaded, and then the large one.
    /// The paths are those of the small receipt, the large one, and the roots.
    static func verifyAlone(_ paths: [String]) throws {
        let files = try paths.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
        guard files.count > 2 else { throw BenchmarkFailure("memory SMALL LARGE ROOT …") }
        var anchors = try TrustAnchors.apple()
        for root in files[2...] { anchors.addRoot(try Certificate(der: root)) }
        let verifier = Verifier(anchors: anchors)
        let memory = ProcessMemory(of: getpid())
        var before = 0
        for receipt in files[..<2] {
            before = memory.residentBytes
            try memory.forgetPeak()
            let examination = verifier.examine(receipt, expecting: Samples.expectation)
            guard examination.proof != nil else { throw BenchmarkFailure("refused: \(examination.report.reason)") }
        }
        print(memory.peakResidentBytes - before)
    }

    /// A server of its own, which has recorded small receipts before.
    private func growthOfPosting(_ receipt: [UInt8]) throws -> Int {
        let assay = try servers.startAssay(trusting: samples.authority)
        defer { assay.stop() }
        try assay.waitUntilLive(seconds: 30)
        let small = try samples.receipt(purchases: 1)
        for number in 0..<20 { try post(small, customer: "small-\(number)", to: assay) }
        let before = assay.memory.residentBytes
        try assay.memory.forgetPeak()
        try post(receipt, customer: "large", to: assay)
        return assay.memory.peakResidentBytes - before
    }

    private func post(_ receipt: [UInt8], customer: String, to assay: ServedProcess) throws {
        let body = JSONWriter.object { json in
            json.member("proof", Data(receipt).base64EncodedString())
            json.member("customer_id", customer)
        }
        let head = """
            POST /v1/purchases HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(ServerFolder.key)\r
            Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n
            """
        try assay.measure {
            let result = try LoadGenerator(port: assay.port).run(connections: 1, requests: 1) { _, request in
                request += Array(head.utf8)
                request += body
            }
            guard result.failures == 0 else { throw BenchmarkFailure(result.firstFailure) }
        }
    }
}
