import AppleFormats
import Testing

@Suite("A DER cursor")
struct DERCursorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let bytes: [UInt8]
        let der: FormatFault?
        let ber: FormatFault?
        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "empty content", bytes: [0x04, 0x00], der: nil, ber: nil),
        Row(what: "short length", bytes: [0x04, 0x02, 1, 2], der: nil, ber: nil),
        Row(what: "only a tag", bytes: [0x04], der: .truncated(at: 1), ber: .truncated(at: 1)),
        Row(what: "cut content", bytes: [0x04, 0x02, 1], der: .truncated(at: 3), ber: .truncated(at: 3)),
        Row(what: "long form for a short length", bytes: [0x04, 0x81, 0x01, 9], der: .invalidLength(at: 1), ber: nil),
        Row(
            what: "leading zero in a length",
            bytes: [0x04, 0x82, 0x00, 0x01, 9],
            der: .invalidLength(at: 1),
            ber: nil
        ),
        Row(
            what: "eight length octets",
            bytes: [0x04, 0x88, 0, 0, 0, 0, 0, 0, 0, 1, 9],
            der: .invalidLength(at: 1),
            ber: nil
        ),
        Row(
            what: "nine length octets",
            bytes: [0x04, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9],
            der: .invalidLength(at: 1),
            ber: .invalidLength(at: 1)
        ),
        Row(
            what: "a length of 2^64-1",
            bytes: [0x04, 0x88] + [UInt8](repeating: 0xFF, count: 8),
            der: .truncated(at: 10),
            ber: .truncated(at: 10)
        ),
        Row(
            what: "a length of 2^63",
            bytes: [0x04, 0x88, 0x80, 0, 0, 0, 0, 0, 0, 0],
            der: .truncated(at: 10),
            ber: .truncated(at: 10)
        ),
        Row(what: "reserved length", bytes: [0x04, 0xFF], der: .invalidLength(at: 1), ber: .invalidLength(at: 1)),
        Row(what: "cut length", bytes: [0x04, 0x82, 0x01], der: .truncated(at: 3), ber: .truncated(at: 3)),
        Row(
            what: "a tag of several octets",
            bytes: [0x1F, 0x81, 0x01, 0x00],
            der: .unexpectedTag(0x1F, at: 0),
            ber: .unexpectedTag(0x1F, at: 0)
        ),
        Row(what: "indefinite, empty", bytes: [0x30, 0x80, 0, 0], der: .invalidLength(at: 1), ber: nil),
        Row(
            what: "indefinite, with content",
            bytes: [0x30, 0x80, 0x04, 0x01, 9, 0, 0],
            der: .invalidLength(at: 1),
            ber: nil
        ),
        Row(
            what: "indefinite, never closed",
            bytes: [0x30, 0x80, 0x04, 0x01, 9],
            der: .invalidLength(at: 1),
            ber: .truncated(at: 5)
        ),
        Row(
            what: "indefinite, half closed",
            bytes: [0x30, 0x80, 0x00],
            der: .invalidLength(at: 1),
            ber: .truncated(at: 3)
        ),
        Row(
            what: "indefinite, closed with a length",
            bytes: [0x30, 0x80, 0x00, 0x01, 0x00],
            der: .invalidLength(at: 1),
            ber: .invalidLength(at: 3)
        ),
        Row(
            what: "indefinite, closed in long form",
            bytes: [0x30, 0x80, 0x00, 0x81, 0x00],
            der: .invalidLength(at: 1),
            ber: .invalidLength(at: 3)
        ),
        Row(
            what: "indefinite, but primitive",
            bytes: [0x04, 0x80, 0, 0],
            der: .invalidLength(at: 1),
            ber: .invalidLength(at: 1)
        ),
    ]

    @Test("reads one element by its rules", arguments: rows)
    func oneElement(_ row: Row) {
        for (rules, expected) in [(DERCursor.Rules.der, row.der), (.ber, row.ber)] {
            var cursor = DERCursor(0..<row.bytes.count, rules: rules)
            do throws(FormatFault) {
                let element = try cursor.next(in: row.bytes.span)
                #expect(expected == nil, "\(rules)")
                #expect(element?.end == row.bytes.count)
                #expect(cursor.isAtEnd)
            } catch {
                #expect(error == expected, "\(rules)")
            }
        }
    }

    @Test("finds the end of indefinite lengths within others")
    func nestedIndefinite() throws {
        let bytes = DERWriter.encode { writer in
            writer.indefinite(.sequence) { outer in
                outer.indefinite(.set) { $0.integer(5) }
                outer.sequence { $0.indefinite(.sequence) { $0.null() } }
            }
            writer.integer(7)
        }
        var cursor = DERCursor(0..<bytes.count, rules: .ber)
        let outer = try cursor.next(.sequence, in: bytes.span)
        let seven = try cursor.next(.integer, in: bytes.span)
        try cursor.finish()
        #expect(DERCursor.integer(seven.content, in: bytes.span) == 7)
        var inner = try cursor.inside(outer)
        var set = try inner.inside(inner.next(.set, in: bytes.span))
        #expect(try DERCursor.integer(set.next(.integer, in: bytes.span).content, in: bytes.span) == 5)
        try set.finish()
        _ = try inner.next(.sequence, in: bytes.span)
        try inner.finish()
    }

    @Test("refuses ten thousand levels at once, and does not run out of stack", arguments: [true, false])
    func deep(isClosed: Bool) {
        let levels = 10_000
        var bytes: [UInt8] = []
        for _ in 0..<levels { bytes += [0x30, 0x80] }
        if isClosed { bytes += [UInt8](repeating: 0, count: 2 * levels) }
        var cursor = DERCursor(0..<bytes.count, rules: .ber)
        #expect(throws: FormatFault.self) { try cursor.next(in: bytes.span) }
    }

    @Test("goes down to its limit and no further")
    func depthLimit() throws {
        var bytes: [UInt8] = [0x05, 0x00]
        for _ in 0..<40 {
            bytes = DERWriter.encode { $0.constructed(.sequence) { $0.raw(bytes) } }
        }
        var cursor = DERCursor(0..<bytes.count, rules: .der)
        for _ in 0..<DERCursor.depthMax {
            cursor = try cursor.inside(cursor.next(.sequence, in: bytes.span))
        }
        let last = try cursor.next(.sequence, in: bytes.span)
        #expect(throws: FormatFault.tooDeep(at: last.content.lowerBound)) { try cursor.inside(last) }
    }

    static let integers: [(bytes: [UInt8], value: Int64?)] = [
        ([], nil), ([0], 0), ([0x7F], 127), ([0x80], -128), ([0xFF], -1), ([0x00, 0x80], 128),
        ([0x06, 0xBA], 1_722), ([0x00, 0x00, 0x01], 1),
        ([0x7F] + [UInt8](repeating: 0xFF, count: 7), .max),
        ([0x80] + [UInt8](repeating: 0, count: 7), .min),
        ([0x00, 0x80] + [UInt8](repeating: 0, count: 7), nil),
        ([0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7), nil),
        ([0x00, 0x00, 0x7F] + [UInt8](repeating: 0xFF, count: 7), .max),
        ([0xFF, 0x80] + [UInt8](repeating: 0, count: 7), .min),
        ([0x01] + [UInt8](repeating: 0, count: 8), nil),
    ]

    @Test("reads integers of up to 64 bits and no larger ones", arguments: integers)
    func integer(bytes: [UInt8], value: Int64?) {
        #expect(DERCursor.integer(0..<bytes.count, in: bytes.span) == value)
    }

    @Test(
        "reads back the integers that the writer writes, in the shortest form",
        arguments: [0, 1, -1, 127, 128, -128, -129, 255, 256, 1_722, 502_787_298_214_239_215, .max, .min] as [Int64]
    )
    func writtenInteger(value: Int64) throws {
        let bytes = DERWriter.encode { $0.integer(value) }
        var cursor = DERCursor(0..<bytes.count, rules: .der)
        let element = try cursor.next(.integer, in: bytes.span)
        #expect(DERCursor.integer(element.content, in: bytes.span) == value)
        #expect(element.content.count == 1 || Int64(exactly: Int8(truncatingIfNeeded: value)) != value)
    }

    @Test("reads back lengths of every size", arguments: [0, 1, 127, 128, 255, 256, 65_535, 65_536, 1_000_000])
    func writtenLength(count: Int) throws {
        let bytes = DERWriter.encode { $0.octetString([UInt8](repeating: 7, count: count)) }
        var cursor = DERCursor(0..<bytes.count, rules: .der)
        #expect(try cursor.next(.octetString, in: bytes.span).content.count == count)
        try cursor.finish()
    }

    @Test(
        "writes object identifiers as dotted arcs",
        arguments: [
            (DERObjectID.signedData, "1.2.840.113549.1.7.2"), (.sha1, "1.3.14.3.2.26"),
            (.sha256, "2.16.840.1.101.3.4.2.1"), (DERObjectID(bytes: []), "?"),
            (DERObjectID(bytes: [0x2A, 0x86]), "1.2?"),
            (DERObjectID(bytes: [0x2A] + [UInt8](repeating: 0xFF, count: 10) + [0x7F]), "1.2.?"),
        ]
    )
    func objectID(id: DERObjectID, text: String) {
        #expect(id.description == text)
    }

    @Test("makes object identifiers of arcs")
    func arcs() {
        #expect(DERObjectID(arcs: [1, 2, 840, 113_549, 1, 7, 2]) == .signedData)
        #expect(DERObjectID(arcs: [2, 16, 840, 1, 101, 3, 4, 2, 1]) == .sha256)
        #expect(DERObjectID(arcs: [1]) == nil)
        #expect(DERObjectID(arcs: [1, 40]) == nil)
        #expect(DERObjectID(arcs: [3, 1]) == nil)
    }
}
