import API
import Encoding
import Foundation
import PurchaseModel

/// One JSON object on one line for each event, to standard error. No receipt, token or customer stands in a line: the
/// events carry none.
struct Log: Sendable {
    enum Level: String {
        case info
        case warning
        case error
    }

    let clock: any WallClock

    func write(_ level: Level, _ event: String, _ members: (inout JSONObjectWriter) -> Void = { _ in }) {
        var line = JSONWriter.object { json in
            json.member("time", TransactionJSON.text(clock.now))
            json.member("level", level.rawValue)
            json.member("event", event)
            members(&json)
        }
        line.append(0x0A)
        // One write for one line, so that lines of several threads never mix.
        try? FileHandle.standardError.write(contentsOf: Data(line))
    }
}
