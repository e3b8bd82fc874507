import PurchaseModel
import Synchronization

/// How much comes of what nobody has signed in each app's notifications: the bytes that are kept, the questions to Apple.
///
/// The shared secret makes a notification of version 1 authentic, and many an app has it in it: whoever reads it there may send
/// as many as a disk has room for, each another. An hour's worth comes at once, and as much again over each hour.
final class UnsignedBudget: Sendable {
    private let perHour: Int
    private let spent = Mutex<[AppID: Spent]>([:])

    private struct Spent {
        var amount: Double
        var at: Timestamp
    }

    init(perHour: Int) {
        self.perHour = perHour
    }

    /// Takes so much out of an app's; false when it is not left.
    func take(_ amount: Int, of app: AppID, at now: Timestamp) -> Bool {
        spent.withLock { spent in
            var own = spent[app] ?? Spent(amount: 0, at: now)
            // A clock that was set back gives nothing, and takes nothing.
            let passed = max(own.at.duration(to: now) / .seconds(3_600), 0)
            own = Spent(amount: max(own.amount - passed * Double(perHour), 0), at: now)
            let isLeft = own.amount + Double(amount) <= Double(perHour)
            if isLeft { own.amount += Double(amount) }
            spent[app] = own
            return isLeft
        }
    }
}
