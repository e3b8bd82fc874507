import Synchronization

/// A clock that moves only when told: for tests and the simulator.
package final class ManualClock: WallClock {
    private let moment: Mutex<Timestamp>

    package init(_ start: Timestamp) {
        moment = Mutex(start)
    }

    package var now: Timestamp {
        moment.withLock { $0 }
    }

    package func advance(by duration: Duration) {
        moment.withLock { $0 = $0.advanced(by: duration) }
    }

    package func set(to timestamp: Timestamp) {
        moment.withLock { $0 = timestamp }
    }
}
