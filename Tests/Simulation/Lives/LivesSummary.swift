/// What many towns of lives were, together.
package struct LivesSummary: Sendable {
    private var towns = 0
    private var sums = Lives.Sums()
    private var days: Int64 = 0

    package init() {}

    package mutating func add(_ run: Lives.Run) {
        towns += 1
        days += run.terms.days * Int64(run.sums.lives)
        sums.lives += run.sums.lives
        sums.transactions += run.sums.transactions
        sums.notices += run.sums.notices
        sums.lost += run.sums.lost
        sums.compared += run.sums.compared
        sums.calls.merge(run.sums.calls, uniquingKeysWith: +)
        sums.leastCalls.merge(run.sums.leastCalls, uniquingKeysWith: +)
    }

    package var compared: Int { sums.compared }
    package var lost: Int { sums.lost }

    package func text(after duration: Duration) -> String {
        let calls = sums.calls.keys.sorted().map { name in
            "  \(name): \(sums.calls[name] ?? 0) calls of Apple, at least \(sums.leastCalls[name] ?? 0)"
        }
        return """
            \(sums.lives) lives in \(towns) towns and stories, \(days / 365) years of them, in \(duration.components.seconds) s
              \(sums.transactions) transactions; \(sums.notices) notifications, \(sums.lost) of them lost
              \(sums.compared) comparisons with the truth
            \(calls.joined(separator: "\n"))
            """
    }
}
