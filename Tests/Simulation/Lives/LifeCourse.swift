import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport

/// One seed's course, from moment to moment: of the store, of the customers and their apps, of the post, of the jobs.
struct LifeCourse: Sendable {
    private static let start = Timestamp(seconds: 1_704_067_200)
    private static let samples = 20
    /// Time for everything to come to rest: what is late on its way comes within three days; where nobody is told, Apple
    /// gives up charging after sixty.
    private var rest: Duration { .seconds((terms.isTold ? 4 : 70) * 86_400) }
    /// How often a server looks for what is due.
    private static let pause = Duration.seconds(10)

    let findings = Findings()
    private let seed: UInt64
    private let terms: Lives.Terms
    private let dice: Dice
    private let town: Town
    private let troubles: AppleTroubles
    private let end: Timestamp

    init(seed: UInt64, _ terms: Lives.Terms) throws {
        self.seed = seed
        self.terms = terms
        end = Self.start.advanced(by: .seconds(terms.days * 86_400))
        let dice = Dice(seed: seed ^ 0x6C69_7665_73)
        self.dice = dice
        troubles = AppleTroubles(from: Self.start, until: end, seed: seed)
        var store = SimulatedStore(startingAt: Self.start, seed: seed)
        store.set(DemoCatalogue.app())
        town = try Town(store, isTold: terms.isTold, post: Post(seed: seed, isGoodFrom: end)) { dice.next() }
    }

    func run() async -> Lives.Sums {
        do {
            return try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await town.recorder.run() }
                defer { town.recorder.stop() }
                return try await live()
            }
        } catch {
            findings.note("the lives themselves", "\(error)")
            return Lives.Sums()
        }
    }

    private func live() async throws -> Lives.Sums {
        var population = Population(
            in: town.simulator.read { $0 },
            app: DemoCatalogue.bundleID,
            count: terms.customers,
            seed: seed
        )
        // The customers have settled in the population's own store: from now on there is only the town's.
        town.simulator.change { [settled = population.store] in $0 = settled }
        var apps = CustomerApps(town, dice, isEager: !terms.isTold)
        var book = TruthBook()
        var check = LifeCheck(town, troubles, isTold: terms.isTold, findings)
        var samples = (0..<Self.samples).map { _ in
            Self.start.advanced(by: .milliseconds(Int64(dice.next() % UInt64(terms.days * 86_400_000))))
        }
        samples.sort()
        try await town.begin()
        var stretch = -1
        let last = end.advanced(by: rest)
        while town.clock.now < last, findings.first == nil {
            let now = try await next(population.nextMoment, apps.nextOpening, samples.first, stretch, last)
            town.clock.set(to: now)
            let isOver = now > end
            population = town.simulator.change { [population] store in
                var population = population
                if isOver { store.advance(to: now) } else { population.live(until: now, in: &store) }
                return population
            }
            town.simulator.read { store in book.note(store) }
            try await apps.present(at: now, findings)
            await town.sender.deliverDue()
            if now < end, troubles.stretch(at: now) != stretch {
                stretch = troubles.stretch(at: now)
                town.chaos.set(troubles.chaos(inStretch: stretch))
            } else if now >= end {
                town.chaos.set(.none)
            }
            try await town.work()
            while let moment = samples.first, moment <= now {
                samples.removeFirst()
                try await check.compare(book, apps.presented, at: now, "after \(Self.day(now)) days")
            }
        }
        if findings.first == nil {
            try await check.compare(book, apps.presented, at: town.clock.now, "at the end", isAtRest: true)
        }
        return sums(book, check.compared)
    }

    /// The next moment at which anything happens.
    private func next(
        _ act: Timestamp?,
        _ opening: Timestamp?,
        _ sample: Timestamp?,
        _ stretch: Int,
        _ last: Timestamp
    ) async throws -> Timestamp {
        let now = town.clock.now
        let due = try await town.nextDue().map { max($0, now.advanced(by: Self.pause)) }
        let turn = stretch < 0 ? nil : troubles.end(ofStretch: stretch)
        let moments = [
            now < end ? act : nil, opening, sample, due, turn, town.simulator.read(\.nextMoment),
            town.sender.nextAttemptAt, last, now < end ? end : nil,
        ]
        return max(moments.compactMap(\.self).filter { $0 > now }.min() ?? last, now.advanced(by: .milliseconds(1)))
    }

    private static func day(_ now: Timestamp) -> Int64 { start.duration(to: now).components.seconds / 86_400 }

    private func sums(_ book: TruthBook, _ compared: Int) -> Lives.Sums {
        var sums = Lives.Sums()
        sums.lives = terms.customers
        sums.transactions = book.purchases.count
        let messages = town.sender.messages
        sums.notices = messages.count
        sums.lost = messages.count(where: \.isLost)
        sums.compared = compared
        sums.calls = town.calls.counts
        sums.leastCalls = LeastCalls(book, messages, isTold: terms.isTold).counts
        return sums
    }
}
