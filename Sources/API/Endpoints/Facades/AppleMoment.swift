import Encoding
import PurchaseModel

/// Moments as Apple's verifyReceipt writes them, each thrice: in Greenwich, in milliseconds, in Los Angeles.
enum AppleMoment {
    /// `name`, `name_ms` and `name_pst`; nothing for none.
    ///
    /// - Parameters:
    ///   - name: of the first.
    ///   - moment: cut to whole seconds, which is all that app receipts know.
    ///   - isExact: keeps the milliseconds, as of the moment of a request, and in iOS 6 receipts.
    ///   - json: where they are written.
    static func write(
        _ name: String,
        _ moment: Timestamp?,
        isExact: Bool = false,
        into json: inout JSONObjectWriter
    ) {
        guard let moment, let texts = texts(moment) else { return }
        json.member(name, texts.greenwich)
        json.member(name + "_ms", String(isExact ? moment.milliseconds : moment.seconds * 1_000))
        json.member(name + "_pst", texts.pacific)
    }

    /// `nil` for what has no date of four digits in both places.
    static func texts(_ moment: Timestamp) -> (greenwich: String, pacific: String)? {
        guard let here = text(moment.milliseconds) else { return nil }
        let pacific = moment.milliseconds + PacificTime.offset(at: moment.milliseconds) * 1_000
        guard let there = text(pacific) else { return nil }
        return (here + " Etc/GMT", there + " America/Los_Angeles")
    }

    /// `2012-07-12 12:54:35`.
    private static func text(_ milliseconds: Int64) -> String? {
        guard let text = RFC3339.text(milliseconds: milliseconds) else { return nil }
        let bytes = text.utf8.prefix(19).map { $0 == UInt8(ascii: "T") ? UInt8(ascii: " ") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
