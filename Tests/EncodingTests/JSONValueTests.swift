import Encoding
import Testing

@Suite struct JSONValueTests {
    private func value(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    @Test(
        arguments: [
            ("0", 0, 0.0, 0), ("-0", 0, -0.0, 0), ("1", 1, 1, 1), ("-12", -12, -12, -12),
            ("9223372036854775807", .max, 0x1p63, .max), ("-9223372036854775808", .min, -0x1p63, .min),
            ("9223372036854775808", nil, 0x1p63, nil), ("-9223372036854775809", nil, -0x1p63, nil),
            ("123456789012345678901234567890", nil, 0x1.8ee90ff6c373ep96, nil),
            ("9007199254740993", 9_007_199_254_740_993, 9_007_199_254_740_992, 9_007_199_254_740_993),
            ("1.0", nil, 1, 1), ("1e3", nil, 1_000, 1_000), ("1E-2", nil, 0.01, 0), ("-0.0", nil, -0.0, 0),
            ("1700000000123.9990234375", nil, 1_700_000_000_123.9990234375, 1_700_000_000_123),
            ("-1.9", nil, -1.9, -1), ("9.2e18", nil, 9.2e18, 9_200_000_000_000_000_000), ("9.3e18", nil, 9.3e18, nil),
            ("9223372036854775807.5", nil, 0x1p63, nil), ("1e400", nil, nil, nil), ("-1e400", nil, nil, nil),
            ("1e-400", nil, 0, 0), ("5e-324", nil, .leastNonzeroMagnitude, 0), ("0.1", nil, 0.1, 0),
        ] as [(String, Int64?, Double?, Int64?)]
    )
    func numbers(text: String, int64: Int64?, double: Double?, milliseconds: Int64?) throws {
        let value = try value(text)
        #expect(value.kind == .number)
        #expect(value.int64 == int64)
        #expect(value.double?.bitPattern == double?.bitPattern)
        #expect(value.milliseconds == milliseconds)
        #expect(value.raw.elementsEqual(text.utf8))
        #expect(value.string == nil && value.bool == nil && !value.isNull && value.object == nil && value.array == nil)
    }

    @Test(arguments: [
        (#""""#, ""), (#""a""#, "a"), (#""\u0061\n\/\\\"""#, "a\n/\\\""), (#""\b\f\r\t""#, "\u{8}\u{C}\r\t"),
        (#""\ud83d\ude00é\u00e9""#, "😀éé"), (#""\uFFFE\uFFFF\udbff\udfff""#, "\u{FFFE}\u{FFFF}\u{10FFFF}"),
        ("\"\u{301}\"", "\u{301}"), ("\"a\u{301}\u{200D}\"", "a\u{301}\u{200D}"), (#""\r\n""#, "\r\n"),
    ])
    func strings(text: String, says: String) throws {
        let value = try value(text)
        #expect(value.kind == .string)
        // Compared as bytes: `==` on String would also take canonical equivalents for equal.
        #expect(value.string?.utf8.elementsEqual(says.utf8) == true)
        #expect(value.utf8?.elementsEqual(says.utf8) == true)
        #expect(value.raw.elementsEqual(text.utf8))
        #expect(value.says(says) && !value.says(says + "x") && !value.says("x"))
        #expect(value.int64 == nil && value.double == nil && value.milliseconds == nil)
    }

    @Test func canonicalEquivalentsAreDifferent() throws {
        let value = try value("\"cafe\u{301}\"")
        #expect(value.says("cafe\u{301}"))
        #expect(!value.says("caf\u{E9}"))
        let object = try #require(self.value("{\"cafe\u{301}\":1,\"e\\u0301\":2}").object)
        #expect(object["caf\u{E9}"] == nil)
        #expect(object["\u{E9}"] == nil)
        #expect(object["e\u{301}"]?.int64 == 2)
    }

    @Test func aCombiningMarkHidesNoQuotationMark() throws {
        let object = try #require(
            value("{\"a\":\"x\"\u{20},\"b\":\"\u{301}\",\"c\\\"\u{301}\":\"\\\"\u{301}\"}").object
        )
        #expect(object.members.map(\.key.utf8.count) == [1, 1, 4])
        #expect(object["c\"\u{301}"]?.string?.unicodeScalars.map(\.value) == [0x22, 0x301])
    }

    @Test func objectsAndArraysAreReadInOrder() throws {
        let text = #" { "b" : [ 1 , [ ] , { "x" : [ 2 ] } , "t" ] , "a" : null , "\u0063" : true , "d" : { } } "#
        let object = try #require(value(text).object)
        #expect(object.count == 4)
        #expect(object.members.map(\.key) == ["b", "a", "c", "d"])
        #expect(object.members.map(\.value.kind) == [.array, .null, .boolean, .object])
        #expect(object["a"]?.isNull == true)
        #expect(object["c"]?.bool == true)
        #expect(object["d"]?.object?.count == 0)
        #expect(object["e"] == nil && object[""] == nil && object["x"] == nil && object["t"] == nil)
        let array = try #require(object["b"]?.array)
        #expect(array.count == 4 && !array.isEmpty)
        #expect(array.map(\.kind) == [.number, .array, .object, .string])
        #expect(array[2]?.object?["x"]?.array?[0]?.int64 == 2)
        #expect(array[3]?.string == "t")
        #expect(array[4] == nil && array[-1] == nil)
        #expect(object["b"].map { String(decoding: $0.raw, as: UTF8.self) } == #"[ 1 , [ ] , { "x" : [ 2 ] } , "t" ]"#)
        #expect(object["b"]?.offset == 9)
        #expect(array[3]?.offset == 39)
        #expect(object.value.offset == 1 && array.value.kind == .array)
    }

    @Test func aValueOutlivesItsDocument() throws {
        let inner = try JSONDocument(Array(#"{"a":{"b":["c"]}}"#.utf8)).root.object?["a"]?.object?["b"]
        #expect(inner?.array?.first(where: { _ in true })?.string == "c")
    }
}
