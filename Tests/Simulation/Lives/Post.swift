import PurchaseModel
import Simulator

/// How Apple's notifications fare on their way: lost for good, twice, late and out of order. By the seed and the message.
struct Post: Sendable {
    /// Hundredths.
    private static let (lost, twice, late): (UInt64, UInt64, UInt64) = (30, 30, 30)
    /// What is late comes up to so many seconds later, and what happened since overtakes it.
    private static let lateMax: UInt64 = 3 * 86_400

    let seed: UInt64
    /// From then on everything arrives.
    let isGoodFrom: Timestamp

    func disturbance(of message: NoticeMessage, attempt: Int) -> Disturbance {
        var disturbance = Disturbance.none
        guard attempt == 1, message.notice.at < isGoodFrom else { return disturbance }
        var random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(message.number))
        if random.next() % 100 < Self.lost {
            disturbance.loss = .message
            return disturbance
        }
        if random.next() % 100 < Self.twice { disturbance.copies = 2 }
        if random.next() % 100 < Self.late {
            // Mostly minutes, sometimes days.
            let share = random.next() % 1_000
            disturbance.delay = .seconds(Int64(1 + Self.lateMax * share * share / 1_000_000))
        }
        return disturbance
    }
}
