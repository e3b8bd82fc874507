import Foundation
import Simulation
import Simulator

/// Lives by seed, and the stories: `make lives`.
struct LivesCommand {
    private var lives = 1_000
    private var first: UInt64 = 1
    /// One town alone.
    private var isAlone = false
    private var terms = Lives.Terms()
    /// Where stories lie; each is told by so many seeds.
    private var stories: String?
    private var seeds: UInt64 = 3

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch (name, UInt64(value)) {
            case ("--lives", let number?) where number > 0: lives = Int(number)
            case ("--in-town", let number?) where number > 0: terms.customers = Int(number)
            case ("--days", let number?) where number > 0: terms.days = Int64(number)
            case ("--told", let number?): terms.isTold = number > 0
            case ("--from", let number?): first = number
            case ("--seed", let number?): (first, isAlone) = (number, true)
            case ("--stories", _): stories = value
            default: return nil
            }
        }
    }

    static func usage() -> Int32 {
        say("usage: Simulate lives [--lives COUNT] [--in-town COUNT] [--days COUNT] [--told 0] [--from SEED]")
        say("       Simulate lives --seed SEED [--in-town COUNT] [--days COUNT] [--told 0]")
        say("       Simulate lives --stories FOLDER [--seed SEED]")
        return 2
    }

    func run() throws -> Int32 {
        if let stories { return try tell(in: URL(filePath: stories)) }
        let towns = isAlone ? 1 : (lives + terms.customers - 1) / terms.customers
        return try run((first..<first + UInt64(towns)).map { ($0, terms) })
    }

    private func tell(in folder: URL) throws -> Int32 {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".json") }
        let stories = try names.sorted().map { name in
            try Story([UInt8](Data(contentsOf: folder.appending(path: name))))
        }
        let seeds = isAlone ? first..<first + 1 : first..<first + seeds
        return try run(
            stories.flatMap { story in
                var terms = terms
                terms.story = story
                return seeds.map { ($0, terms) }
            }
        )
    }

    private func run(_ towns: [(seed: UInt64, terms: Lives.Terms)]) throws -> Int32 {
        var (sum, red) = (LivesSummary(), 0)
        let began = ContinuousClock.now
        for (seed, terms) in towns {
            let run = try Lives.run(seed: seed, terms)
            sum.add(run)
            guard run.violation != nil else { continue }
            say(run.explanation)
            red += 1
            if red == Settings.redMax { break }
        }
        say(sum.text(after: began.duration(to: .now)))
        return red == 0 ? 0 : 1
    }
}
