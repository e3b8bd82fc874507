import Synchronization

/// What goes wrong by itself, and how often; nothing any more once it is calm.
package final class Weather: Sendable {
    package enum Blow: Int, CaseIterable, Sendable {
        /// A write that is refused before anything is done.
        case busy
        /// A write that is taken back at its end.
        case conflict
        /// A write whose closure runs twice.
        case twice
        /// The process ends before a commit.
        case deathBefore
        /// The process ends after a commit, before anybody was told.
        case deathAfter
        case requestLost
        case answerLost
        /// The shop does not take a message.
        case shopFails
        /// The shop takes a message, and its answer does not arrive.
        case shopIsMute
    }

    private let dice: Dice
    /// One in so many; 0 is never.
    private let rates: [Int]
    private let calm = Mutex(false)

    package init(dice: Dice) {
        self.dice = dice
        // One seed in eight has fine weather; the others have their own worst.
        let isFine = dice.happens(oneIn: 8)
        rates = Blow.allCases.map { _ in isFine || dice.happens(oneIn: 4) ? 0 : 4 + dice.below(60) }
    }

    package func strikes(_ blow: Blow) -> Bool {
        guard rates[blow.rawValue] > 0, !isCalm else { return false }
        return dice.happens(oneIn: rates[blow.rawValue])
    }

    package var isCalm: Bool { calm.withLock { $0 } }

    package func calmDown() { calm.withLock { $0 = true } }
}
