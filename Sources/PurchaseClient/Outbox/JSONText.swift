/// Writes JSON, always in the same way: what is sent twice is the same bytes, also after an update of the system.
package enum JSONText {
    package enum Member: Equatable, Sendable {
        case text(String)
        case number(Int64)
    }

    /// An object on one line, with the members that there are, in their order.
    package static func object(_ members: [(name: String, value: Member?)]) -> String {
        let written = members.compactMap { member -> String? in
            guard let value = member.value else { return nil }
            let text =
                switch value {
                case .text(let text): string(text)
                case .number(let number): String(number)
                }
            return string(member.name) + ":" + text
        }
        return "{" + written.joined(separator: ",") + "}"
    }

    private static func string(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00".utf8) + [digit(byte >> 4), digit(byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
