public import Foundation

/// What the client needs of the world: the time, patience, and chance. A test gives it other ones.
public struct Surroundings: Sendable {
    /// The date by the device's clock, which may be wrong: it is only written down.
    public let now: @Sendable () -> Date
    /// Seconds by a clock that nobody sets, since any moment. All pauses go by it.
    public let uptime: @Sendable () -> Double
    /// Lets so many seconds pass, or fewer when the task is cancelled.
    public let sleep: @Sendable (Double) async -> Void
    /// Any number. Nothing secret is made of it.
    public let chance: @Sendable () -> UInt64

    /// Surroundings that are these four closures.
    ///
    /// - Parameters:
    ///   - now: the date by the device's clock.
    ///   - uptime: seconds by a clock that nobody sets.
    ///   - sleep: lets so many seconds pass, or fewer when the task is cancelled.
    ///   - chance: any number.
    public init(
        now: @escaping @Sendable () -> Date,
        uptime: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async -> Void,
        chance: @escaping @Sendable () -> UInt64
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.chance = chance
    }
}
