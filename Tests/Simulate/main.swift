import Foundation
import Simulation

// Runs seeds one after the other, and ends early when too many are red.

/// What the command line asks for.
struct Settings {
    /// As many red ones are enough to look at.
    static let redMax = 10

    var seeds: UInt64 = 1_000
    var first: UInt64 = 0
    var bug: PlantedBug?
    /// One seed alone, with its last steps.
    var isAlone = false

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch (name, UInt64(value), PlantedBug(rawValue: value)) {
            case ("--seeds", let number?, _) where number > 0: seeds = number
            case ("--from", let number?, _): first = number
            case ("--seed", let number?, _): (first, seeds, isAlone) = (number, 1, true)
            case ("--plant", _, let named?): bug = named
            default: return nil
            }
        }
    }
}

/// Writes a line at once, also into a file.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

if CommandLine.arguments.dropFirst().first == "lives" {
    exit(try LivesCommand(CommandLine.arguments.dropFirst(2)).map { try $0.run() } ?? LivesCommand.usage())
}

guard let settings = Settings(CommandLine.arguments.dropFirst()) else {
    say("usage: Simulate [--seeds COUNT] [--from SEED] [--seed SEED] [--plant BUG]")
    say("       Simulate lives …")
    say("bugs: " + PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))
    exit(2)
}

var (sum, red) = (Summary(), 0)
let began = ContinuousClock.now
for seed in settings.first..<settings.first + settings.seeds {
    let run = try Simulation.run(seed: seed, bug: settings.bug)
    sum.add(run)
    if let violation = run.violation {
        say(red == 0 ? run.explanation(bug: settings.bug) : "seed \(seed): \(violation)")
        red += 1
        if red == Settings.redMax { break }
    } else if settings.isAlone {
        say(run.last.joined(separator: "\n"))
    }
    if sum.seeds % 10_000 == 0 { say(sum.line(after: began.duration(to: .now))) }
}
if sum.seeds % 10_000 != 0 { say(sum.line(after: began.duration(to: .now))) }
exit(red == 0 ? 0 : 1)
