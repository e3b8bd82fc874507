import FoundationEssentials
import PurchaseModel

/// The time of day as the operating system tells it.
struct SystemClock: WallClock {
    var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}
