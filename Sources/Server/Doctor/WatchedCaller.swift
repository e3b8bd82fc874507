import HTTP
import PurchaseModel
import Synchronization

/// Sends calls, and notes by how much the answers' clocks differ from ours.
final class WatchedCaller: Sendable {
    private let next: HTTPCaller
    private let clock: any WallClock
    private let skews = Mutex<[Duration]>([])

    init(_ next: HTTPCaller, clock: any WallClock) {
        self.next = next
        self.clock = clock
    }

    /// What each answer's `Date` shows beyond our clock; whole seconds are all that it tells.
    var seen: [Duration] { skews.withLock { $0 } }

    var caller: HTTPCaller {
        HTTPCaller { [self] call async throws(HTTPCallFailure) in
            let sentAt = clock.now
            let response = try await next.send(call)
            let receivedAt = clock.now
            let date = response.fields["Date"].flatMap { HTTPDate.milliseconds($0, at: receivedAt.milliseconds) }
            if let date {
                // Somewhere inside the second that it names, and between the two moments.
                let middle = (sentAt.milliseconds + receivedAt.milliseconds) / 2
                skews.withLock { $0.append(.milliseconds(date + 500 - middle)) }
            }
            return response
        }
    }
}
