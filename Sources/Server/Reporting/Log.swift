import Pipeline
import Dispatch
import Encoding
import PurchaseModel
import Synchronization

/// One JSON object on one line for each event, to standard error. No receipt, token or customer stands in a line: the
/// events carry none.
///
/// A thread of its own writes: whoever reads the log may stop reading, and a full pipe must not stop a purchase.
final class Log: Sendable {
    enum Level: String {
        case info
        case warning
        case error
    }

    /// Lines that may wait for a slow reader. What comes on top is counted, and not written.
    static let waitingMax = 1_024
    /// How long the end waits for the last lines.
    private static let patience = DispatchTimeInterval.seconds(1)

    private let clock: any WallClock
    private let dropped: @Sendable () -> Void
    private let waiting = Mutex(0)
    private let queue = DispatchQueue(label: "assay.log")
    private let lines = DispatchGroup()

    /// - Parameters:
    ///   - clock: dates the lines.
    ///   - dropped: called for each line that is not written.
    init(clock: any WallClock, dropped: @escaping @Sendable () -> Void = {}) {
        self.clock = clock
        self.dropped = dropped
    }

    func write(_ level: Level, _ event: String, _ members: (inout JSONObjectWriter) -> Void = { _ in }) {
        let line = JSONWriter.object { json in
            json.member("time", clock.now)
            json.member("level", level.rawValue)
            json.member("event", event)
            members(&json)
        }
        let hasRoom = waiting.withLock { waiting in
            guard waiting < Log.waitingMax else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else { return dropped() }
        queue.async(group: lines) {
            try? OpenFile.standardError.write(line + [0x0A])
            self.waiting.withLock { $0 -= 1 }
        }
    }

    /// Waits until all is written, or nobody seems to read.
    func finish() {
        _ = lines.wait(timeout: .now() + Log.patience)
    }
}
