import PurchaseModel
import Simulator

/// Who does something in the store: customers by a seed, or the people of a story.
struct Actors: Sendable {
    private enum Kind: Sendable {
        case population(Population)
        case story(StoryTeller, Story, taken: Int)
    }

    private var kind: Kind
    /// The store as it is before anybody has done anything.
    let store: SimulatedStore

    init(_ population: Population) {
        kind = .population(population)
        store = population.store
    }

    init(_ story: Story) {
        var teller = StoryTeller(story)
        teller.begin(story)
        kind = .story(teller, story, taken: 0)
        store = teller.store
    }

    var nextMoment: Timestamp? {
        switch kind {
        case .population(let population): population.nextMoment
        case .story(let teller, let story, let taken): teller.moments(of: story).dropFirst(taken).first
        }
    }

    /// When the story ends.
    var end: Timestamp? {
        guard case .story(let teller, let story, _) = kind else { return nil }
        return [teller.end(of: story), teller.moments(of: story).last].compactMap(\.self).max()
    }

    mutating func act(until now: Timestamp, in shared: inout SimulatedStore) throws {
        switch kind {
        case .population(var population):
            population.live(until: now, in: &shared)
            kind = .population(population)
        case .story(var teller, let story, var taken):
            for moment in teller.moments(of: story).dropFirst(taken) where moment <= now {
                try teller.take(taken, of: story, in: &shared)
                taken += 1
            }
            kind = .story(teller, story, taken: taken)
        }
    }
}
