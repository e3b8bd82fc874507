import PurchaseModel
import Synchronization

/// How much of what nobody has signed is kept of each app's notifications.
///
/// The shared secret makes a notification of version 1 authentic, and many an app has it in it: whoever reads it there may send
/// as many as a disk has room for, each another. An hour's worth comes at once, and as much again over each hour.
final class UnsignedBudget: Sendable {
    private let bytesPerHour: Int
    private let spent = Mutex<[AppID: Spent]>([:])

    private struct Spent {
        var bytes: Double
        var at: Timestamp
    }

    init(bytesPerHour: Int) {
        self.bytesPerHour = bytesPerHour
    }

    /// Takes so many bytes out of an app's; false when they are not left.
    func take(_ bytes: Int, of app: AppID, at now: Timestamp) -> Bool {
        spent.withLock { spent in
            var own = spent[app] ?? Spent(bytes: 0, at: now)
            // A clock that was set back gives nothing, and takes nothing.
            let passed = max(own.at.duration(to: now) / .seconds(3_600), 0)
            own = Spent(bytes: max(own.bytes - passed * Double(bytesPerHour), 0), at: now)
            let isLeft = own.bytes + Double(bytes) <= Double(bytesPerHour)
            if isLeft { own.bytes += Double(bytes) }
            spent[app] = own
            return isLeft
        }
    }
}
