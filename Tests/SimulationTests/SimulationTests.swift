import Simulation
import Testing

/// The whole house, many times over. What is red says how to see it again.
@Suite struct SimulationTests {
    private static let inPart: UInt64 = 50

    @Test(arguments: UInt64(0)..<20)
    func everythingHoldsWhateverHappens(part: UInt64) throws {
        var sum = Summary()
        for seed in part * Self.inPart..<(part + 1) * Self.inPart {
            let run = try Simulation.run(seed: seed)
            #expect(run.violation == nil, "\(run.explanation(bug: nil))")
            sum.add(run)
        }
        // Seeds in which nothing happens would hold everything, too.
        #expect(sum.transactions > 100 && sum.events > 300 && sum.processes > 60)
    }

    @Test(arguments: UInt64(2_000)..<2_020)
    func oneSeedIsOneHistory(seed: UInt64) throws {
        let (first, second) = (try Simulation.run(seed: seed), try Simulation.run(seed: seed))
        #expect(first.fingerprint == second.fingerprint)
        #expect(first.last == second.last)
        #expect(try Simulation.run(seed: seed + 20).fingerprint != first.fingerprint)
    }

    @Test(arguments: PlantedBug.allCases)
    func aPlantedBugIsFound(_ bug: PlantedBug) throws {
        for seed in UInt64(0)..<1_000 {
            let run = try Simulation.run(seed: seed, bug: bug)
            guard let violation = run.violation else { continue }
            #expect(bug.opponents.contains { violation.invariant.hasPrefix($0) }, "\(violation)")
            #expect(run.explanation(bug: bug).contains("make simulate SEED=\(seed) PLANT=\(bug.rawValue)"))
            return
        }
        Issue.record("\(bug.rawValue) is not found")
    }
}
