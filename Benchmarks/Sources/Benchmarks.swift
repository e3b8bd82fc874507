import AppleFormats
import PurchaseModel
import Verification

/// Measures Assay, always beside something else that is measured at the same time: `Benchmarks verify receipts …`.
@main struct Benchmarks {
    static func main() async throws {
        let chosen = CommandLine.arguments.dropFirst()
        func isChosen(_ name: String) -> Bool { chosen.isEmpty || chosen.contains(name) }
        let samples = try Samples(tokensCount: 64)
        let verify = VerifyBenchmark(samples: samples)
        if isChosen("verify") { print(try verify.tokens().text) }
        if isChosen("steps") { print(try verify.steps().text) }
        if isChosen("receipts") { for section in try verify.receipts() { print(section.text) } }
        if chosen.contains("sizes") {
            print(
                MemoryLayout<Claims>.size,
                MemoryLayout<Transaction>.size,
                MemoryLayout<Notice>.size,
                MemoryLayout<Renewal>.size,
                MemoryLayout<Report>.size,
                MemoryLayout<TransactionPayload>.size,
                MemoryLayout<Examination>.size,
                MemoryLayout<Check>.size
            )
        }
        // For a profiler: nothing but this.
        if chosen.contains("spin") {
            let verifier = try samples.verifier()
            for index in 0..<(Int(CommandLine.arguments.last ?? "") ?? 50_000) {
                _ = verifier.examine(samples.tokens[index % 64], expecting: Samples.expectation)
            }
        }
    }
}
