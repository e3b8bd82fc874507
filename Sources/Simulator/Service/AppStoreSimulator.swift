package import PurchaseModel
import Synchronization

/// The simulated App Store as many callers share it: one store, one authority that signs for it, and a clock.
///
/// Everything that answers or sends for the store holds one of these. A call sees the store at one moment, and no other
/// call in between.
package final class AppStoreSimulator: Sendable {
    /// How virtual time passes.
    package enum Pace: Hashable, Sendable {
        /// Only when told.
        case stands
        /// So many virtual seconds in each real one.
        case runs(factor: Double)
    }

    package let authority: SimulatorAuthority
    /// Where its time stands still.
    package let end: Timestamp
    private let wallClock: any WallClock
    private let state: Mutex<State>

    private struct State {
        var store: SimulatedStore
        var pace = Pace.stands
        /// When virtual time was last brought up to date, by the wall clock.
        var anchor: Timestamp
        var clockSkew = Duration.zero
    }

    /// - Parameters:
    ///   - store: as it is at the beginning.
    ///   - authority: signs for it.
    ///   - wallClock: by which its time passes.
    ///   - end: how far its time may pass: as long as what the authority signs holds.
    package init(
        _ store: SimulatedStore,
        authority: SimulatorAuthority,
        wallClock: any WallClock,
        end: Timestamp = StoreTime.range.upperBound
    ) {
        self.authority = authority
        self.end = min(end, StoreTime.range.upperBound)
        self.wallClock = wallClock
        state = Mutex(State(store: store, anchor: wallClock.now))
    }

    /// Looks at the store as it is now.
    package func read<Value: Sendable>(_ body: (SimulatedStore) -> Value) -> Value {
        state.withLock { state in
            catchUp(&state)
            return body(state.store)
        }
    }

    /// Changes the store; what `body` throws leaves the store as it made it.
    package func change<Value: Sendable, Failure: Error>(
        _ body: (inout SimulatedStore) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = state.withLock { state -> Result<Value, Failure> in
            catchUp(&state)
            return Result { () throws(Failure) in try body(&state.store) }
        }
        return try result.get()
    }

    package func perform(_ act: Act) throws(ActRefusal) -> ActOutcome {
        try change { store throws(ActRefusal) in try store.perform(act) }
    }

    package var now: Timestamp { read(\.now) }

    /// What the real clock says to Apple, by which clients date what they send.
    package var wallTime: Timestamp { wallClock.now.advanced(by: clockSkew) }

    package var clockSkew: Duration { state.withLock(\.clockSkew) }

    /// By how much Apple's clock is wrong: what tokens are judged by, and what answers say.
    package func setClockSkew(_ skew: Duration) {
        state.withLock { $0.clockSkew = skew }
    }

    package var pace: Pace { state.withLock { $0.pace } }

    package func setPace(_ pace: Pace) {
        state.withLock { state in
            catchUp(&state)
            state.pace = pace
        }
    }

    private func catchUp(_ state: inout State) {
        let real = wallClock.now
        guard case .runs(let factor) = state.pace else {
            state.anchor = real
            return
        }
        let elapsed = Double(max(0, real.milliseconds - state.anchor.milliseconds)) * factor
        // What is less than a millisecond waits for the next call.
        guard elapsed >= 1 else { return }
        state.anchor = real
        let moment = state.store.steadyNow.advanced(by: .milliseconds(Int64(min(elapsed, 1e15))))
        state.store.advance(to: min(moment, end))
    }
}
