import Encoding
import Testing

/// A text and what the door says to it: nil for "welcome".
struct GrammarRow: Sendable, CustomTestStringConvertible {
    let text: [UInt8]
    let fault: JSONFault?

    init(_ text: String, _ reason: JSONFault.Reason? = nil, at offset: Int = 0) {
        self.init(bytes: Array(text.utf8), reason, at: offset)
    }

    init(bytes: [UInt8], _ reason: JSONFault.Reason? = nil, at offset: Int = 0) {
        text = bytes
        fault = reason.map { JSONFault($0, at: offset) }
    }

    var testDescription: String {
        String(decoding: text, as: UTF8.self) + (fault.map { " \($0)" } ?? " is welcome")
    }

    func check() {
        do throws(JSONFault) {
            _ = try JSONDocument(text)
            #expect(fault == nil, "was taken")
        } catch {
            #expect(error == fault)
        }
    }
}

@Suite struct JSONGrammarTests {
    @Test(arguments: [
        GrammarRow("{}"), GrammarRow("[]"), GrammarRow("0"), GrammarRow("\"\""), GrammarRow("null"),
        GrammarRow(" \t\r\n[ 1 , 2 ] \n"), GrammarRow("{ \"a\" : { \"b\" : [ { } , [ ] ] } }"),
        GrammarRow("", .unexpectedEnd), GrammarRow(" ", .unexpectedEnd, at: 1),
        GrammarRow("[", .unexpectedEnd, at: 1), GrammarRow("{", .unexpectedEnd, at: 1),
        GrammarRow("]", .unexpectedByte), GrammarRow("}", .unexpectedByte), GrammarRow(",", .unexpectedByte),
        GrammarRow("[1,]", .unexpectedByte, at: 3), GrammarRow("[,1]", .unexpectedByte, at: 1),
        GrammarRow("[,]", .unexpectedByte, at: 1), GrammarRow("[1,,2]", .unexpectedByte, at: 3),
        GrammarRow("[1 2]", .unexpectedByte, at: 3), GrammarRow("[1}", .unexpectedByte, at: 2),
        GrammarRow("[1", .unexpectedEnd, at: 2), GrammarRow("[[]", .unexpectedEnd, at: 3),
        GrammarRow("{\"a\":1,}", .unexpectedByte, at: 7), GrammarRow("{,}", .unexpectedByte, at: 1),
        GrammarRow("{\"a\"}", .unexpectedByte, at: 4), GrammarRow("{\"a\":}", .unexpectedByte, at: 5),
        GrammarRow("{\"a\",1}", .unexpectedByte, at: 4), GrammarRow("{\"a\"::1}", .unexpectedByte, at: 5),
        GrammarRow("{a:1}", .unexpectedByte, at: 1), GrammarRow("{1:1}", .unexpectedByte, at: 1),
        GrammarRow("{'a':1}", .unexpectedByte, at: 1), GrammarRow("{\"a\":1]", .unexpectedByte, at: 6),
        GrammarRow("{\"a\":1 \"b\":2}", .unexpectedByte, at: 7), GrammarRow("{\"a\":1", .unexpectedEnd, at: 6),
        GrammarRow("{\"a\"", .unexpectedEnd, at: 4), GrammarRow("{\"a", .unexpectedEnd, at: 3),
        GrammarRow("{null:1}", .unexpectedByte, at: 1), GrammarRow("{\"a\" 1}", .unexpectedByte, at: 5),
        GrammarRow("[1]x", .trailingBytes, at: 3), GrammarRow("{}{}", .trailingBytes, at: 2),
        GrammarRow("1 2", .trailingBytes, at: 2), GrammarRow("[]]", .trailingBytes, at: 2),
        GrammarRow("null,", .trailingBytes, at: 4), GrammarRow("\"a\"\"b\"", .trailingBytes, at: 3),
        GrammarRow("[1]//", .trailingBytes, at: 3), GrammarRow("/* */1", .unexpectedByte),
        GrammarRow("[1,#\n2]", .unexpectedByte, at: 3), GrammarRow("(1)", .unexpectedByte),
        GrammarRow("\u{FEFF}{}", .byteOrderMark), GrammarRow("{}\u{FEFF}", .trailingBytes, at: 2),
        GrammarRow(" \u{FEFF}{}", .unexpectedByte, at: 1), GrammarRow("[\u{A0}1]", .unexpectedByte, at: 1),
        GrammarRow("[1\u{B}]", .unexpectedByte, at: 2), GrammarRow("[1\u{C}]", .unexpectedByte, at: 2),
        GrammarRow("\u{0}", .unexpectedByte), GrammarRow("[1]\u{0}", .trailingBytes, at: 3),
        GrammarRow(bytes: [0xFF, 0xFE, 0x7B, 0x00], .unexpectedByte),
        GrammarRow(bytes: [0x5B, 0xFF], .unexpectedByte, at: 1),
    ])
    func structure(row: GrammarRow) { row.check() }

    @Test(arguments: [
        GrammarRow("true"), GrammarRow("false"), GrammarRow("[true,false,null]"),
        GrammarRow("True", .unexpectedByte), GrammarRow("NULL", .unexpectedByte),
        GrammarRow("nul", .unexpectedEnd, at: 3),
        GrammarRow("tru]", .invalidLiteral), GrammarRow("[nan]", .invalidLiteral, at: 1),
        GrammarRow("nulll", .trailingBytes, at: 4), GrammarRow("[truefalse]", .unexpectedByte, at: 5),
        GrammarRow("NaN", .unexpectedByte), GrammarRow("Infinity", .unexpectedByte),
        GrammarRow("undefined", .unexpectedByte),
    ])
    func literals(row: GrammarRow) { row.check() }

    @Test(arguments: [
        GrammarRow("0"), GrammarRow("-0"), GrammarRow("-1"), GrammarRow("10"), GrammarRow("0.5"), GrammarRow("-0.0"),
        GrammarRow("1e3"), GrammarRow("1E+3"), GrammarRow("1e-003"), GrammarRow("0e0"), GrammarRow("1.25e10"),
        GrammarRow("1e400"), GrammarRow("123456789012345678901234567890"), GrammarRow("[-1,0,1]"),
        GrammarRow("01", .invalidNumber), GrammarRow("-01", .invalidNumber), GrammarRow("00", .invalidNumber),
        GrammarRow("+1", .unexpectedByte), GrammarRow("-", .unexpectedEnd, at: 1),
        GrammarRow("[-]", .invalidNumber, at: 1),
        GrammarRow("--1", .invalidNumber), GrammarRow("-a", .invalidNumber), GrammarRow(".5", .unexpectedByte),
        GrammarRow("[1.]", .invalidNumber, at: 1), GrammarRow("1.", .unexpectedEnd, at: 2),
        GrammarRow("[1.e3]", .invalidNumber, at: 1), GrammarRow("[1e]", .invalidNumber, at: 1),
        GrammarRow("1e", .unexpectedEnd, at: 2), GrammarRow("1e+", .unexpectedEnd, at: 3),
        GrammarRow("[1e+-1]", .invalidNumber, at: 1), GrammarRow("[1e1.5]", .unexpectedByte, at: 4),
        GrammarRow("0x10", .trailingBytes, at: 1), GrammarRow("1_000", .trailingBytes, at: 1),
        GrammarRow("[1.2.3]", .unexpectedByte, at: 4), GrammarRow("-Infinity", .invalidNumber),
        GrammarRow("[\u{FF11}]", .unexpectedByte, at: 1),
    ])
    func numbers(row: GrammarRow) { row.check() }

    @Test(arguments: [
        GrammarRow(#""\" \\ \/ \b \f \n \r \t \u0041 \uFFFF \ud83D\uDe00""#), GrammarRow("\"\u{7F}\u{2028}\u{FEFF}\""),
        GrammarRow(#""a"#, .unexpectedEnd, at: 2), GrammarRow(#"""#, .unexpectedEnd, at: 1),
        GrammarRow(#""\"#, .unexpectedEnd, at: 2), GrammarRow(#""\""#, .unexpectedEnd, at: 3),
        GrammarRow(#""\u12"#, .unexpectedEnd, at: 5), GrammarRow(#""\u12""#, .invalidEscape, at: 1),
        GrammarRow(#""\x41""#, .invalidEscape, at: 1), GrammarRow(#""a\'""#, .invalidEscape, at: 2),
        GrammarRow(#""\U0041""#, .invalidEscape, at: 1), GrammarRow(#""\u00g0""#, .invalidEscape, at: 1),
        GrammarRow(#""\u{41}""#, .invalidEscape, at: 1), GrammarRow(#""\u-041""#, .invalidEscape, at: 1),
        GrammarRow("\"\\\n\"", .invalidEscape, at: 1), GrammarRow("\"\\\u{E9}\"", .invalidEscape, at: 1),
        GrammarRow("\"a\nb\"", .controlCharacter, at: 2), GrammarRow("\"\u{0}\"", .controlCharacter, at: 1),
        GrammarRow("\"0123456789\u{1F}\"", .controlCharacter, at: 11),
        GrammarRow("{\"\t\":1}", .controlCharacter, at: 2),
        GrammarRow(#""\u0000""#, .nullCharacter, at: 1), GrammarRow(#"{"a\u0000":1}"#, .nullCharacter, at: 3),
        GrammarRow(#""\ud800""#, .loneSurrogate, at: 1), GrammarRow(#""\udc00""#, .loneSurrogate, at: 1),
        GrammarRow(#""\ud800x""#, .loneSurrogate, at: 1), GrammarRow(#""\ud800\n""#, .loneSurrogate, at: 1),
        GrammarRow(#""\ud800\ud800""#, .loneSurrogate, at: 1), GrammarRow(#""\udc00\ud800""#, .loneSurrogate, at: 1),
        GrammarRow(#""\ud800\u0041""#, .loneSurrogate, at: 1), GrammarRow(#""\ud800\u00""#, .invalidEscape, at: 7),
        GrammarRow(#""\ud800"#, .loneSurrogate, at: 1),
    ])
    func strings(row: GrammarRow) { row.check() }

    /// The Unicode Standard, table 3-7 and the sequences just outside of it.
    @Test(
        arguments: [
            ([0xC2, 0x80], true), ([0xDF, 0xBF], true), ([0xE0, 0xA0, 0x80], true), ([0xED, 0x9F, 0xBF], true),
            ([0xEE, 0x80, 0x80], true), ([0xEF, 0xBF, 0xBF], true), ([0xF0, 0x90, 0x80, 0x80], true),
            ([0xF4, 0x8F, 0xBF, 0xBF], true), ([0x7F], true),
            ([0x80], false), ([0xBF], false), ([0xC0, 0x80], false), ([0xC1, 0xBF], false), ([0xC2], false),
            ([0xC2, 0x7F], false), ([0xC2, 0xC0], false), ([0xE0, 0x9F, 0xBF], false), ([0xE0, 0x80, 0x80], false),
            ([0xED, 0xA0, 0x80], false), ([0xED, 0xBF, 0xBF], false), ([0xE1, 0x80], false),
            ([0xE1, 0x80, 0xC0], false),
            ([0xF0, 0x8F, 0xBF, 0xBF], false), ([0xF4, 0x90, 0x80, 0x80], false), ([0xF5, 0x80, 0x80, 0x80], false),
            ([0xF0, 0x90, 0x80], false), ([0xF1, 0x80, 0x80, 0x41], false), ([0xFE], false), ([0xFF], false),
        ] as [([UInt8], Bool)]
    )
    func utf8(sequence: [UInt8], isValid: Bool) {
        for prefix in ["", "0123456", "01234567"] {
            let text = Array(("\"" + prefix).utf8) + sequence
            let offset = prefix.utf8.count + 1
            GrammarRow(bytes: text + Array("\"".utf8), isValid ? nil : .invalidUTF8, at: offset).check()
            GrammarRow(bytes: text, isValid ? .unexpectedEnd : .invalidUTF8, at: isValid ? text.count : offset).check()
        }
    }
}
