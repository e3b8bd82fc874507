/// What many runs were, together.
package struct Summary: Sendable {
    package private(set) var seeds = 0
    /// Of all runs in their order.
    private var fingerprint: UInt64 = 0
    private var time = Duration.zero
    package private(set) var steps = 0
    package private(set) var transactions = 0
    package private(set) var events = 0
    package private(set) var processes = 0

    package init() {}

    package mutating func add(_ run: Simulation.Run) {
        seeds += 1
        fingerprint = fingerprint &* 31 &+ run.fingerprint
        time += run.time
        steps += run.steps
        transactions += run.transactions
        events += run.events
        processes += run.processes
    }

    package func line(after duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        let rate = seconds > 0 ? Int(Double(seeds) / seconds) : 0
        return "\(seeds) seeds in \(Int(seconds)) s, \(rate) a second; in them \(Int(time / .seconds(86_400))) days, "
            + "\(transactions) transactions, \(events) events, \(steps) steps, \(processes) processes; fingerprint \(String(fingerprint, radix: 16))"
    }
}

extension Simulation.Run {
    /// What was wrong, what led to it, and how to see it again.
    package func explanation(bug: PlantedBug?) -> String {
        guard let violation else { return "seed \(seed): nothing is wrong" }
        let again = "make simulate SEED=\(seed)" + (bug.map { " PLANT=\($0.rawValue)" } ?? "")
        return """
            seed \(seed), step \(steps): \(violation)
            the last steps:
            \(last.map { "  " + $0 }.joined(separator: "\n"))
            again: \(again)
            """
    }
}
