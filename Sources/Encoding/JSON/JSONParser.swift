/// Walks a JSON text once and writes its tape; holds to the grammar of RFC 8259 and to the limits.
///
/// It never calls itself: open containers are chained through the tape, so depth costs no stack.
struct JSONParser {
    private(set) var nodes: [JSONNode] = []
    private let limits: JSONLimits
    private var at = 0
    private var depth = 0
    /// The innermost open container, or -1.
    private var open = -1

    init(limits: JSONLimits, bytesCount: Int) {
        self.limits = limits
        // Apple's payloads have a node for every 16 to 20 bytes; a text of only digits and commas just grows the array.
        nodes.reserveCapacity(min(bytesCount, limits.bytesMax) / 16 + 4)
    }

    mutating func parse(_ input: Span<UInt8>) throws(JSONFault) {
        guard input.count <= limits.bytesMax else { throw JSONFault(.tooLong, at: limits.bytesMax) }
        if input.count >= 3, input[0] == 0xEF, input[1] == 0xBB, input[2] == 0xBF {
            throw JSONFault(.byteOrderMark, at: 0)
        }
        repeat {
            try parseValue(input)
        } while try proceed(input)
        skipSpace(input)
        guard at == input.count else { throw JSONFault(.trailingBytes, at: at) }
    }

    /// Reads a scalar whole, or opens containers until the first value or an empty container is reached.
    private mutating func parseValue(_ input: Span<UInt8>) throws(JSONFault) {
        while true {
            skipSpace(input)
            switch try current(input) {
            case UInt8(ascii: "\""):
                try parseString(input)
                return
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try parseNumber(input)
                return
            case UInt8(ascii: "{"):
                try push(.object)
                skipSpace(input)
                if try current(input) == UInt8(ascii: "}") { return }
                try parseKey(input)
            case UInt8(ascii: "["):
                try push(.array)
                skipSpace(input)
                if try current(input) == UInt8(ascii: "]") { return }
            case UInt8(ascii: "t"): return try parseLiteral(input, "true", .yes)
            case UInt8(ascii: "f"): return try parseLiteral(input, "false", .no)
            case UInt8(ascii: "n"): return try parseLiteral(input, "null", .null)
            default: throw JSONFault(.unexpectedByte, at: at)
            }
        }
    }

    /// After a value: closes what ends here and steps over a comma.
    ///
    /// - Returns: whether another value must follow.
    private mutating func proceed(_ input: Span<UInt8>) throws(JSONFault) -> Bool {
        while open >= 0 {
            skipSpace(input)
            let byte = try current(input)
            let isObject = nodes[open].kind == .object
            if byte == UInt8(ascii: ",") && nodes[open].count > 0 {
                at += 1
                if isObject {
                    skipSpace(input)
                    try parseKey(input)
                }
                return true
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw JSONFault(.unexpectedByte, at: at)
            }
            at += 1
            pop()
        }
        return false
    }

    /// Reads a key and the colon after it.
    private mutating func parseKey(_ input: Span<UInt8>) throws(JSONFault) {
        guard try current(input) == UInt8(ascii: "\"") else { throw JSONFault(.unexpectedByte, at: at) }
        let scanned = try JSONString.scan(input, from: at + 1)
        nodes.append(
            JSONNode(
                kind: scanned.isEscaped ? .escapedString : .plainString,
                start: UInt32(truncatingIfNeeded: at + 1),
                end: UInt32(truncatingIfNeeded: scanned.end),
                next: UInt32(truncatingIfNeeded: nodes.count + 1),
                count: 0
            )
        )
        at = scanned.end + 1
        skipSpace(input)
        guard try current(input) == UInt8(ascii: ":") else { throw JSONFault(.unexpectedByte, at: at) }
        at += 1
    }

    private mutating func parseString(_ input: Span<UInt8>) throws(JSONFault) {
        let scanned = try JSONString.scan(input, from: at + 1)
        append(scanned.isEscaped ? .escapedString : .plainString, from: at + 1, to: scanned.end)
        at = scanned.end + 1
    }

    private mutating func parseNumber(_ input: Span<UInt8>) throws(JSONFault) {
        let scanned = try JSONNumber.scan(input, from: at)
        append(scanned.isInteger ? .integer : .decimal, from: at, to: scanned.end)
        at = scanned.end
    }

    private mutating func parseLiteral(
        _ input: Span<UInt8>,
        _ word: String,
        _ kind: JSONNode.Kind
    ) throws(JSONFault) {
        let start = at
        for byte in word.utf8 {
            guard at < input.count else { throw JSONFault(.unexpectedEnd, at: at) }
            guard input[at] == byte else { throw JSONFault(.invalidLiteral, at: start) }
            at += 1
        }
        append(kind, from: start, to: at)
    }

    private func current(_ input: Span<UInt8>) throws(JSONFault) -> UInt8 {
        guard at < input.count else { throw JSONFault(.unexpectedEnd, at: at) }
        return input[at]
    }

    private mutating func skipSpace(_ input: Span<UInt8>) {
        while at < input.count {
            switch input[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at += 1
            default: return
            }
        }
    }
}

// MARK: - The tape

extension JSONParser {
    private mutating func append(_ kind: JSONNode.Kind, from start: Int, to end: Int) {
        nodes.append(
            JSONNode(
                kind: kind,
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: end),
                next: UInt32(truncatingIfNeeded: nodes.count + 1),
                count: 0
            )
        )
        if open >= 0 { nodes[open].count += 1 }
    }

    private mutating func push(_ kind: JSONNode.Kind) throws(JSONFault) {
        guard depth < limits.depthMax else { throw JSONFault(.tooDeep, at: at) }
        depth += 1
        let around = open
        append(kind, from: at, to: at)
        at += 1
        open = nodes.count - 1
        nodes[open].next = UInt32(bitPattern: Int32(truncatingIfNeeded: around))
    }

    private mutating func pop() {
        let around = Int(Int32(bitPattern: nodes[open].next))
        nodes[open].end = UInt32(truncatingIfNeeded: at)
        nodes[open].next = UInt32(truncatingIfNeeded: nodes.count)
        open = around
        depth -= 1
    }
}
