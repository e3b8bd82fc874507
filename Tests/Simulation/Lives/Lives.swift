import PurchaseModel
package import Simulator

/// Many customers who live for two years by a seed, while Apple's notifications get lost and Apple is away: what the server
/// says of them is compared with the simulated App Store's own books.
package enum Lives {
    /// What kind of lives.
    package struct Terms: Sendable {
        package var customers = 10
        package var days: Int64 = 730
        /// Whether Apple tells anything by itself. If not, only looking at subscriptions brings news.
        package var isTold = true
        /// Has this happen in place of what customers do by a seed.
        package var story: Story?
        /// What the server does not do, so that whoever compares can be seen to find it.
        package var lacks: Lack?

        package init() {}
    }

    /// A fault of a server.
    package enum Lack: String, Hashable, Sendable, CaseIterable {
        /// It never asks what was sent.
        case comparisons
        /// It never looks at subscriptions.
        case looks
    }

    /// What became of one seed.
    package struct Run: Sendable {
        package let seed: UInt64
        package let terms: Terms
        package let violation: Violation?
        package let sums: Sums
    }

    /// How much was in it.
    package struct Sums: Sendable {
        package var lives = 0
        package var transactions = 0
        package var notices = 0
        package var lost = 0
        /// Things that were compared with the truth.
        package var compared = 0
        /// By endpoint.
        package var calls: [String: Int] = [:]
        /// The least that anybody could have asked who had known what was lost, and when Apple was there.
        package var leastCalls: [String: Int] = [:]
    }

    package static func run(seed: UInt64, _ terms: Terms) throws -> Run {
        let course = try LifeCourse(seed: seed, terms)
        let executor = SeededExecutor(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let result = executor.run { await course.run() }
        if result == nil { course.findings.note("everybody comes to an end", "all wait for each other") }
        return Run(seed: seed, terms: terms, violation: course.findings.first, sums: result ?? Sums())
    }
}

extension Lives.Run {
    package var explanation: String {
        guard let violation else { return "seed \(seed): nothing is wrong" }
        if let story = terms.story {
            return "\(story.name), seed \(seed): \(violation)\nagain: make lives SEED=\(seed)"
        }
        let town = terms.customers == Lives.Terms().customers ? "" : " IN_TOWN=\(terms.customers)"
        return "seed \(seed): \(violation)\nagain: make lives SEED=\(seed)" + town + (terms.isTold ? "" : " TOLD=0")
    }
}
