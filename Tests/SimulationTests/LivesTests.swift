import Foundation
import Simulation
import Simulator
import Testing

/// Customers' lives with a post that loses, repeats and delays, and an Apple that is away: `make lives` has a thousand of
/// them. What is red says how to see it again.
@Suite struct LivesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples/stories")

    private static func terms(_ customers: Int, days: Int64, isTold: Bool = true) -> Lives.Terms {
        var terms = Lives.Terms()
        (terms.customers, terms.days, terms.isTold) = (customers, days, isTold)
        return terms
    }

    @Test(arguments: [(seed: UInt64(1), isTold: true), (2, true), (3, false)])
    func whatIsSaidOfThemIsTrue(seed: UInt64, isTold: Bool) throws {
        let run = try Lives.run(seed: seed, Self.terms(10, days: isTold ? 120 : 60, isTold: isTold))
        #expect(run.violation == nil, "\(run.explanation)")
        #expect(run.sums.compared > (isTold ? 100 : 10) && run.sums.transactions > 10)
        #expect(!isTold || run.sums.lost > 5)
    }

    /// Of all the stories that take days, not years.
    @Test(arguments: ["refund-in-app", "upgrade", "grace-recovered", "family-leaves"])
    func storiesEndWellInBadWeather(name: String) throws {
        var terms = Lives.Terms()
        terms.story = try Story([UInt8](Data(contentsOf: Self.folder.appending(path: name + ".json"))))
        let run = try Lives.run(seed: 1, terms)
        #expect(run.violation == nil, "\(run.explanation)")
    }

    /// A server that does not compare what arrived, or does not look, is found out.
    @Test(arguments: [(Lives.Lack.comparisons, true), (.looks, false)])
    func aServerThatLacksSomethingIsFound(lack: Lives.Lack, isTold: Bool) throws {
        var terms = Self.terms(10, days: 120, isTold: isTold)
        terms.lacks = lack
        #expect(try (UInt64(1)...3).contains { try Lives.run(seed: $0, terms).violation != nil })
    }
}
