import Encoding
import PurchaseModel

/// Moments as receipts write them.
enum AppleDateText {
    /// `2024-02-23T17:27:16Z`, in app receipts.
    static func zulu(_ moment: Timestamp) -> String { text(moment, "T", "Z") }

    /// `2020-09-01T16:58:49+0300`: Xcode writes the developer's own time zone, without a colon.
    static func xcode(_ moment: Timestamp) -> String {
        text(Timestamp(milliseconds: moment.milliseconds + 3 * 3_600_000), "T", "+0300")
    }

    /// `2012-07-12 12:54:35 Etc/GMT`, in iOS 6 receipts and in answers of verifyReceipt.
    static func greenwich(_ moment: Timestamp) -> String { text(moment, " ", " Etc/GMT") }

    /// `2012-07-12 05:54:35 America/Los_Angeles`, in iOS 6 receipts and in answers.
    static func pacific(_ moment: Timestamp) -> String {
        let offset = PacificTime.offset(at: moment.milliseconds) * 1_000
        return text(Timestamp(milliseconds: moment.milliseconds + offset), " ", " America/Los_Angeles")
    }

    /// `Mon, 05 Jun 2023 00:00:00 GMT`, in fields of HTTP (RFC 9110 § 5.6.7).
    static func internet(_ moment: Timestamp) -> String {
        guard let time = CivilTime(milliseconds: moment.milliseconds) else {
            preconditionFailure("a simulated moment outside of the years 0 to 9999")
        }
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // 1970-01-01 was a Thursday; before it the remainder is negative.
        let day = Int((moment.milliseconds / 86_400_000 % 7 + 7) % 7)
        return days[day] + ", " + digits(time.day, 2) + " " + months[time.month - 1] + " " + digits(time.year, 4) + " "
            + digits(time.hour, 2) + ":" + digits(time.minute, 2) + ":" + digits(time.second, 2) + " GMT"
    }

    private static func text(_ moment: Timestamp, _ separator: String, _ zone: String) -> String {
        guard let time = CivilTime(milliseconds: moment.milliseconds) else {
            preconditionFailure("a simulated moment outside of the years 0 to 9999")
        }
        let date = digits(time.year, 4) + "-" + digits(time.month, 2) + "-" + digits(time.day, 2)
        return date + separator + digits(time.hour, 2) + ":" + digits(time.minute, 2) + ":" + digits(time.second, 2)
            + zone
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
