import Foundation
import Simulation

/// Runs seeds one after the other; ends early when too many are red.
struct Settings {
    var seeds: UInt64 = 1_000
    var first: UInt64 = 0
    var bug: PlantedBug?
    /// As many red ones are enough to look at.
    static let redMax = 10
    /// One seed alone, with all its last steps.
    var isAlone = false

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch name {
            case "--seeds":
                guard let number = UInt64(value), number > 0 else { return nil }
                seeds = number
            case "--from":
                guard let number = UInt64(value) else { return nil }
                first = number
            case "--seed":
                guard let number = UInt64(value) else { return nil }
                (first, seeds, isAlone) = (number, 1, true)
            case "--plant":
                guard let named = PlantedBug(rawValue: value) else { return nil }
                bug = named
            default: return nil
            }
        }
    }
}

guard let settings = Settings(CommandLine.arguments.dropFirst()) else {
    let bugs = PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")
    print("usage: Simulate [--seeds COUNT] [--from SEED] [--seed SEED] [--plant BUG]\nbugs: \(bugs)")
    exit(2)
}

var sum = Summary()
var red = 0
let began = ContinuousClock.now
for seed in settings.first..<settings.first + settings.seeds {
    let run = try Simulation.run(seed: seed, bug: settings.bug)
    sum.add(run)
    if let violation = run.violation {
        print(red == 0 ? run.explanation(bug: settings.bug) : "seed \(seed): \(violation)")
        red += 1
        if red == Settings.redMax { break }
    }
    if settings.isAlone { print(run.last.joined(separator: "\n")) }
    if sum.seeds % 10_000 == 0 { print(sum.line(after: began.duration(to: .now))) }
}
print(sum.line(after: began.duration(to: .now)))
if settings.isAlone { print("fingerprint \(String(sum.fingerprint, radix: 16))") }
exit(red == 0 ? 0 : 1)
