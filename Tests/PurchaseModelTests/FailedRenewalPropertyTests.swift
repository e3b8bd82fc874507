import PurchaseModel
import TestSupport
import Testing

/// What holds of any subscription that Apple tries to charge for. A red seed is a name to run again.
@Suite struct FailedRenewalPropertyTests {
    /// Facts of one life, and what it must come to when all of them are known.
    private struct Life {
        var facts: [FailedLife.Fact] = []
        var counts: [Int64] = [0, 0, 0, 0]

        /// Up to six periods of thirty days, each of which is followed in one of all ways.
        init(_ random: inout SeededRandom) {
            var (day, number): (Int64, Int64) = (0, 1)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let end = day + 30
                facts.append(.period(number, from: day))
                facts.append(FailedLife.well(day + 1, of: end))
                number += 1
                switch Int.random(in: 0...6, using: &random) {
                case 0, 1: day = end
                case 2:
                    fail(end, grace: end + 16, as: 1, &random)
                    day = end
                case 3:
                    fail(end, grace: Bool.random(using: &random) ? end + 3 : nil, as: 2, &random)
                    day = end + Int64.random(in: 4...59, using: &random)
                case 4:
                    fail(end, grace: nil, as: 3, &random)
                    facts.append(FailedLife.over(end + 60, of: end, 2))
                    day = end + Int64.random(in: 61...200, using: &random)
                case 5:
                    fail(end, grace: end + 16, as: 3, &random)
                    facts.append(FailedLife.over(end + 2, of: end, 1))
                    day = end + Int64.random(in: 3...200, using: &random)
                default:
                    facts.append(FailedLife.over(end, of: end, 1))
                    day = end + Int64.random(in: 1...200, using: &random)
                }
            }
            // The last one is followed by what is not in doubt.
            facts.append(.period(number, from: day))
        }

        private mutating func fail(_ end: Int64, grace: Int64?, as outcome: Int, _ random: inout SeededRandom) {
            counts[0] += 1
            counts[outcome] += 1
            for later in 0..<Int64.random(in: 1...3, using: &random) {
                facts.append(FailedLife.failed(end + later, of: end, grace: grace))
            }
        }
    }

    @Test(arguments: UInt64(0)..<100) func theyAreCountedInAnyOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let life = Life(&random)
        for _ in 0..<4 {
            let again = (0..<4).compactMap { _ in life.facts.randomElement(using: &random) }
            let sums = try Self.counted((life.facts + again).shuffled(using: &random), &random)
            #expect(FailedLife.counts(sums) == life.counts, "seed \(seed)")
        }
    }

    /// Of what was not heard nothing is counted that did not happen: never more failed than did, and nothing that was paid is
    /// lost. What is not known to have been bought again may look like a charge.
    @Test(arguments: UInt64(0)..<100) func whatIsLostOnTheWayIsNotMadeUp(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let life = Life(&random)
        let heard = life.facts.filter { _ in Int.random(in: 0...3, using: &random) > 0 }
        let expected = FailedLife.counts(try Self.counted(heard, &random))
        #expect(expected[0] <= life.counts[0], "seed \(seed)")
        #expect(expected[1] + expected[2] + expected[3] <= expected[0], "seed \(seed)")
        let again = FailedLife.counts(try Self.counted(heard.shuffled(using: &random), &random))
        #expect(again == expected, "seed \(seed)")
    }

    /// As they come, with looks in between; whatever is known is what a recount makes of it.
    private static func counted(_ facts: [FailedLife.Fact], _ random: inout SeededRandom) throws -> FigureSums {
        var shop = try Shop()
        for fact in facts {
            try FailedLife.show(fact, in: &shop)
            if Bool.random(using: &random) {
                shop.now = shop.now.advanced(by: .seconds(Int64.random(in: 0...40, using: &random) * 86_400))
                try shop.look()
            }
            #expect(shop.figures == Recount(shop).sums)
        }
        return shop.figures
    }
}
