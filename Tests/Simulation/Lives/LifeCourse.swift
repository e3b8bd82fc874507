import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport

/// One seed's course, from moment to moment: of the store, of the customers and their apps, of the post, of the jobs.
struct LifeCourse: Sendable {
    private static let usualStart = Timestamp(seconds: 1_704_067_200)
    private static let samples = 20
    /// Time for everything to come to rest: what is late on its way comes within three days; where nobody is told, Apple
    /// gives up charging after sixty.
    private var rest: Duration { .seconds((terms.isTold ? 4 : 70) * 86_400) }
    /// How often a server looks for what is due.
    private static let pause = Duration.seconds(10)

    let findings = Findings()
    private let terms: Lives.Terms
    private let dice: Dice
    private let town: Town
    private let troubles: AppleTroubles
    private let actors: Actors
    private let start: Timestamp
    private let end: Timestamp

    init(seed: UInt64, _ terms: Lives.Terms) throws {
        self.terms = terms
        // One seed is another life in each story.
        let seed = (terms.story?.name ?? "").utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let dice = Dice(seed: seed ^ 0x6C69_7665_73)
        self.dice = dice
        if let story = terms.story {
            actors = Actors(story)
            end = actors.end ?? actors.store.now
        } else {
            var store = SimulatedStore(startingAt: Self.usualStart, seed: seed)
            store.set(DemoCatalogue.app())
            end = store.now.advanced(by: .seconds(terms.days * 86_400))
            actors = Actors(
                Population(in: store, app: DemoCatalogue.bundleID, count: terms.customers, seed: seed)
            )
        }
        start = actors.store.now
        troubles = AppleTroubles(from: start, until: end, seed: seed)
        let post = Post(seed: seed, isGoodFrom: end)
        town = try Town(actors.store, isTold: terms.isTold, post: post, lacks: terms.lacks) { dice.next() }
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
        var actors = actors
        var apps = CustomerApps(town, dice, isEager: !terms.isTold)
        var book = TruthBook()
        var check = LifeCheck(town, troubles, isTold: terms.isTold, findings)
        var samples = self.samples()
        try await town.begin()
        var stretch = -1
        let last = end.advanced(by: rest)
        while town.clock.now < last, findings.first == nil {
            let now = try await next(actors.nextMoment, apps.nextOpening, samples.first, stretch, last)
            town.clock.set(to: now)
            let isOver = now > end
            actors = try town.simulator.change { [actors] store in
                var actors = actors
                if !isOver { try actors.act(until: now, in: &store) }
                store.advance(to: now)
                return actors
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
                try await check.compare(book, apps.presented, at: now, "after \(day(now)) days")
            }
        }
        if findings.first == nil {
            try await check.compare(book, apps.presented, at: town.clock.now, "at the end", isAtRest: true)
        }
        return sums(book, check.compared)
    }

    private func samples() -> [Timestamp] {
        let length = UInt64(max(1, end.milliseconds - start.milliseconds))
        return (0..<Self.samples).map { _ in start.advanced(by: .milliseconds(Int64(dice.next() % length))) }.sorted()
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

    private func day(_ now: Timestamp) -> Int64 { start.duration(to: now).components.seconds / 86_400 }

    private func sums(_ book: TruthBook, _ compared: Int) -> Lives.Sums {
        var sums = Lives.Sums()
        sums.lives = terms.story == nil ? terms.customers : 0
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
