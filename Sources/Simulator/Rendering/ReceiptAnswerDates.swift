import Encoding
import PurchaseModel

extension Payload {
    /// A moment in verifyReceipt's three forms: `name`, `name_ms`, `name_pst`; nothing for none. All are texts.
    ///
    /// Receipts know whole seconds; only the moment of a request has its milliseconds.
    mutating func setMoment(_ name: String, _ milliseconds: Int64?, isExact: Bool = false) {
        guard let milliseconds, let moment = Payload.writable(milliseconds) else { return }
        set(name, AppleDateText.greenwich(moment))
        set(name + "_ms", String(isExact ? milliseconds : moment.milliseconds))
        set(name + "_pst", AppleDateText.pacific(moment))
    }

    mutating func setMoment(_ name: String, _ moment: Timestamp?) {
        setMoment(name, moment?.milliseconds)
    }

    /// verifyReceipt writes truth as text.
    mutating func setText(_ name: String, _ isTrue: Bool) {
        set(name, isTrue ? "true" : "false")
    }

    /// The whole second; `nil` for what has no date of four digits in both time zones.
    private static func writable(_ milliseconds: Int64) -> Timestamp? {
        let day: Int64 = 86_400_000
        guard CivilTime.range.contains(milliseconds), CivilTime.range.contains(milliseconds - day) else { return nil }
        let rest = milliseconds % 1_000
        return Timestamp(milliseconds: milliseconds - (rest < 0 ? rest + 1_000 : rest))
    }
}
