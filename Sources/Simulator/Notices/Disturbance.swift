/// What happens on purpose to one attempt to deliver; by default nothing.
package struct Disturbance: Hashable, Sendable {
    package enum Loss: Hashable, Sendable {
        case none
        /// This attempt gets lost on its way, and counts as one that timed out.
        case attempt
        /// The message is never sent, not even later: a gap that only the history tells of.
        case message
    }

    package var loss = Loss.none
    /// Posted so many times, one right after the other; the first answer counts.
    package var copies = 1
    /// Virtual time by which the attempt comes late, and by which others overtake it.
    package var delay: Duration = .zero
    /// Among attempts of the same second the lower goes first; with different ranks they change places.
    package var rank = 0

    package init() {}

    package static let none = Disturbance()
}
