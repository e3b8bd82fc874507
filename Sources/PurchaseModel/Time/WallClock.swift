/// What tells the time of day. Everything that needs "now" is given one; nothing reads the system's clock by itself.
package protocol WallClock: Sendable {
    var now: Timestamp { get }
}
