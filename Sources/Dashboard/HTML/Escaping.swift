/// Text as it may stand in HTML, in content and in quoted attributes alike.
///
/// It goes by Unicode scalars: a `<` with a combining mark behind it is one `Character`, and must be escaped all the same.
package enum Escaping {
    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            case "\"": bytes += "&quot;".utf8
            case "'": bytes += "&#39;".utf8
            case "`": bytes += "&#96;".utf8
            default: bytes += String(isShown(scalar) ? scalar : "\u{FFFD}").utf8
            }
        }
    }

    /// How many bytes a scalar takes on a page, at most.
    static func length(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "&", "<", ">", "\"", "'", "`": 6
        default: max(UTF8.width(scalar), isShown(scalar) ? 1 : 3)
        }
    }

    /// False for what a browser does not take, and for what turns the text around it about: one name must not be able to
    /// make the next one look like another.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: true
        case 0x00...0x1F, 0x7F...0x9F: false
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        case 0xFDD0...0xFDEF: false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}
