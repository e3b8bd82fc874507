import HTTP

/// Which bodies are looked at at all.
enum JSONBody {
    /// JSON by its media type, in UTF-8, and not compressed: a compressed body could be a thousand times its size.
    static func isAnnounced(by fields: HTTPFields) -> Bool {
        guard let type = fields.single("Content-Type"), !isCompressed(fields) else { return false }
        // As nearly everybody has it.
        if type == "application/json" { return true }
        guard let parts = parts(of: type), parts[0] == "application/json" else { return false }
        // JSON is UTF-8 whatever else is said of it: what means another charset would be misread without a word. ASCII is
        // UTF-8 as it stands.
        return parts.dropFirst().allSatisfy { part in
            let (name, value) = parameter(part)
            return name != "charset" || ["utf-8", "utf8", "us-ascii"].contains(value)
        }
    }

    /// `identity` is none: RFC 9110 § 8.4.1.
    private static func isCompressed(_ fields: HTTPFields) -> Bool {
        fields.all("Content-Encoding").contains { $0.lowercased() != "identity" }
    }

    /// The media type and its parameters, in small letters, without the spaces around them. A semicolon in quotes ends none;
    /// `nil` if quotes are left open.
    private static func parts(of type: String) -> [String]? {
        var parts: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in type.utf8 {
            if byte == UInt8(ascii: ";"), !isQuoted {
                parts.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            parts[parts.count - 1].append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        return isQuoted ? nil : parts.map { trimmed($0[...]) }
    }

    /// A parameter's name, and its value without quotes.
    private static func parameter(_ part: String) -> (name: String, value: String?) {
        let halves = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { trimmed(Array($0)[...]) }
        guard halves.count == 2 else { return (halves[0], nil) }
        let value = halves[1].utf8
        let isQuoted = value.count > 1 && value.first == UInt8(ascii: "\"") && value.last == UInt8(ascii: "\"")
        return (halves[0], isQuoted ? String(decoding: value.dropFirst().dropLast(), as: UTF8.self) : halves[1])
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let start = bytes.drop(while: isSpace)
        return start.lastIndex { !isSpace($0) }.map { String(decoding: start[...$0], as: UTF8.self) } ?? ""
    }
}
