import Encoding
import Foundation
import Testing
import TestSupport

@Suite struct Base64Tests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let padding: Base64.Padding
        var says: String?
        var fault: Base64Fault?
        var testDescription: String { "\(text) with padding \(padding)" }

        static func good(_ text: String, _ padding: Base64.Padding, _ says: String) -> Row {
            Row(text: text, padding: padding, says: says)
        }
        static func bad(_ text: String, _ padding: Base64.Padding, _ reason: Base64Fault.Reason, at offset: Int) -> Row
        {
            Row(text: text, padding: padding, fault: Base64Fault(reason, at: offset))
        }
    }

    /// RFC 4648 § 10 and what lies beside it.
    @Test(
        arguments: [
            .good("", .required, ""), .good("", .forbidden, ""), .good("", .optional, ""),
            .good("Zg==", .required, "f"), .good("Zg", .forbidden, "f"), .good("Zg", .optional, "f"),
            .good("Zg==", .optional, "f"), .good("Zm8=", .required, "fo"), .good("Zm8", .forbidden, "fo"),
            .good("Zm9v", .required, "foo"), .good("Zm9v", .forbidden, "foo"), .good("Zm9vYg==", .required, "foob"),
            .good("Zm9vYmE=", .required, "fooba"), .good("Zm9vYmFy", .required, "foobar"),
            .bad("Zg==", .forbidden, .padding, at: 2), .bad("Zm8=", .forbidden, .padding, at: 3),
            .bad("Zg", .required, .padding, at: 2), .bad("Zm8", .required, .padding, at: 3),
            .bad("Zg=", .required, .padding, at: 2), .bad("Zg=", .optional, .padding, at: 2),
            .bad("Zm9v=", .required, .padding, at: 4), .bad("Zm9v==", .optional, .padding, at: 4),
            .bad("Zm9v====", .required, .invalidCharacter, at: 4), .bad("Zg===", .optional, .padding, at: 3),
            .bad("=", .required, .padding, at: 0), .bad("==", .optional, .padding, at: 0),
            .bad("====", .required, .invalidCharacter, at: 0),
            .bad("Z", .required, .length, at: 1), .bad("Z===", .required, .invalidCharacter, at: 1),
            .bad("Zm9vY", .forbidden, .length, at: 5),
            .bad("Zh==", .required, .strayBits, at: 1), .bad("Zn==", .required, .strayBits, at: 1),
            .bad("Zh", .forbidden, .strayBits, at: 1), .bad("Zm9=", .required, .strayBits, at: 2),
            .bad("Zm9vZm9", .forbidden, .strayBits, at: 6),
            .bad("Zm 9v", .optional, .length, at: 5), .bad("Zm9v\n", .optional, .length, at: 5),
            .bad("Zm9vZm\n=", .required, .invalidCharacter, at: 6),
            .bad("Zm9\n", .required, .invalidCharacter, at: 3), .bad("Z=9v", .required, .invalidCharacter, at: 1),
            .bad("YQ==YQ==", .required, .invalidCharacter, at: 2),
            .bad("Zm9vZ*9v", .required, .invalidCharacter, at: 5),
            .bad("Zm\u{E9}v", .optional, .length, at: 5), .bad("Zm\u{E9}", .forbidden, .invalidCharacter, at: 2),
            .bad("****", .forbidden, .invalidCharacter, at: 0),
        ] as [Row]
    )
    func decoding(row: Row) {
        for alphabet in [Base64.Alphabet.standard, .url] {
            do throws(Base64Fault) {
                let bytes = try Base64.decode(Array(row.text.utf8), alphabet, padding: row.padding)
                #expect(row.says.map { Array($0.utf8) } == bytes)
            } catch {
                #expect(row.fault == error)
            }
        }
    }

    @Test func theAlphabetsDifferInTwoCharacters() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(try Base64.decode(Array("++++////".utf8), .standard, padding: .required) == bytes)
        #expect(try Base64.decode(Array("----____".utf8), .url, padding: .required) == bytes)
        #expect(throws: Base64Fault(.invalidCharacter, at: 0)) {
            try Base64.decode(Array("++++".utf8), .url, padding: .required)
        }
        #expect(throws: Base64Fault(.invalidCharacter, at: 3)) {
            try Base64.decode(Array("AAA_".utf8), .standard, padding: .required)
        }
    }

    @Test(arguments: UInt64(0)..<100)
    func encodingIsThatOfFoundationAndDecodesBack(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let bytes = random.bytes(Int(seed) * 3 / 2)
        let standard = Base64.encode(bytes, .standard, isPadded: true)
        #expect(standard == Array(Data(bytes).base64EncodedData()))
        #expect(try Base64.decode(standard, .standard, padding: .required) == bytes)
        let url = Base64.encode(bytes, .url, isPadded: false)
        #expect(try Base64.decode(url, .url, padding: .forbidden) == bytes)
        // A slice that starts anywhere is read where it lies.
        let around = [UInt8(ascii: "*")] + url + [UInt8(ascii: "*")]
        #expect(try Base64.decode(around[1..<around.count - 1], .url, padding: .optional) == bytes)
    }

    /// Each length is tried with room for too little, the right amount and too much; nothing beyond what is decoded changes.
    @Test(arguments: 0..<80)
    func whatHasRoomOfTheRightLengthIsDecodedWhereItLies(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        let text = Base64.encode(bytes, .url, isPadded: false)
        for size in [count, count + 1, count - 1, 0] where size >= 0 {
            var room = [UInt8](repeating: 0xEE, count: size)
            var output = room.mutableSpan
            let isDecoded = try Base64.decode(text.span, .url, padding: .forbidden, into: &output)
            #expect(isDecoded == (size == count))
            #expect(room == (size == count ? bytes : [UInt8](repeating: 0xEE, count: size)))
        }
    }

    /// So that a token's text may stand for its bytes.
    @Test(arguments: UInt64(0)..<50)
    func onlyOneTextStandsForTheSameBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let text = Base64.encode(random.bytes(Int(seed % 19) + 1), .url, isPadded: false)
        for at in text.indices {
            for byte in UInt8.min...UInt8.max {
                var mutated = text
                mutated[at] = byte
                guard let bytes = try? Base64.decode(mutated, .url, padding: .forbidden) else { continue }
                #expect(Base64.encode(bytes, .url, isPadded: false) == mutated)
            }
        }
    }
}
