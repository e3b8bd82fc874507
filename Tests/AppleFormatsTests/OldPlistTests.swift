import AppleFormats
import Testing

@Suite("The text plist")
struct OldPlistTests {
    static let good: [(text: String, pairs: [String: String])] = [
        ("{}", [:]),
        (" \t\r\n{ \n}\n", [:]),
        (#"{"a" = "b";}"#, ["a": "b"]),
        ("{\n\t\"purchase-info\" = \"ewo=\";\n\t\"pod\" = \"100\";\n}", ["purchase-info": "ewo=", "pod": "100"]),
        ("{a=b;c = d.e/f:g_h-i$1;}", ["a": "b", "c": "d.e/f:g_h-i$1"]),
        ("{'a' = 'it is';}", ["a": "it is"]),
        (#"{a = "\"\\\n\t\r\a\b\v\f\'";}"#, ["a": "\"\\\n\t\r\u{7}\u{8}\u{B}\u{C}'"]),
        (#"{a = "\101\7\60x";}"#, ["a": "A\u{7}0x"]),
        (#"{a = "\U00e9\U4e2d";}"#, ["a": "é中"]),
        ("{a = \"é中😀\";}", ["a": "é中😀"]),
        ("{/* one */ a /**/ = // two\n b /* * / */ ; }// three", ["a": "b"]),
        (#"{a = "";}"#, ["a": ""]),
        (#"{a = "/* no comment */";}"#, ["a": "/* no comment */"]),
    ]

    @Test("is read", arguments: good)
    func read(text: String, pairs: [String: String]) throws {
        let plist = try OldPlist(Array(text.utf8).span)
        #expect(plist.pairs.count == pairs.count)
        for (key, value) in pairs {
            #expect(plist[key].map { Array($0.utf8) } == Array(value.utf8))
        }
    }

    static let bad: [(text: String, fault: FormatFault)] = [
        ("", .truncated(at: 0)),
        ("{", .truncated(at: 1)),
        ("{a", .truncated(at: 2)),
        ("{a=", .truncated(at: 3)),
        ("{a=b", .truncated(at: 4)),
        ("{a=b;", .truncated(at: 5)),
        ("{a=\"b", .truncated(at: 5)),
        ("{a=\"b\\", .truncated(at: 6)),
        ("{/*", .truncated(at: 3)),
        ("{/* *", .truncated(at: 5)),
        ("[a]", .invalidSyntax(at: 0)),
        ("{\"a\": \"b\"}", .invalidSyntax(at: 4)),
        ("{a=b}", .invalidSyntax(at: 4)),
        ("{a;}", .invalidSyntax(at: 2)),
        ("{a=b;;}", .invalidSyntax(at: 5)),
        ("{\"\"=b;}", .invalidSyntax(at: 1)),
        ("{a=(b);}", .invalidSyntax(at: 3)),
        ("{a=<00>;}", .invalidSyntax(at: 3)),
        ("{a={b=c;};}", .invalidSyntax(at: 3)),
        ("{é=b;}", .invalidSyntax(at: 1)),
        ("{\"é\"=b;}", .invalidSyntax(at: 1)),
        ("{a=\"\\q\";}", .invalidSyntax(at: 4)),
        ("{a=\"\\U12\";}", .invalidSyntax(at: 6)),
        ("{a=\"\\Ud83d\";}", .invalidSyntax(at: 4)),
        ("{a=\"\\U0000\";}", .invalidSyntax(at: 4)),
        ("{a=\"\\000\";}", .invalidSyntax(at: 4)),
        ("{a=\"\\200\";}", .invalidSyntax(at: 4)),
        ("{a=\"\0\";}", .invalidSyntax(at: 4)),
        ("{a=b;a=c;}", .repeated(field: "a")),
        ("{a=b;\"a\"=b;}", .repeated(field: "a")),
        ("{a=b;} x", .trailingBytes(at: 7)),
        ("{a=b;}{}", .trailingBytes(at: 6)),
        ("{/a=b;}", .invalidSyntax(at: 1)),
    ]

    @Test("is refused at the right place", arguments: bad)
    func refused(text: String, fault: FormatFault) {
        #expect(throws: fault) { try OldPlist(Array(text.utf8).span) }
    }

    @Test("is refused when it is not UTF-8")
    func notUTF8() {
        #expect(throws: FormatFault.invalidSyntax(at: 3)) {
            try OldPlist((Array("{a=\"".utf8) + [0xC3, 0x28] + Array("\";}".utf8)).span)
        }
    }

    @Test("is refused beyond its limits")
    func limits() {
        let many = (0...OldPlist.pairsMax).map { "k\($0)=v;" }.joined()
        #expect(throws: FormatFault.self) { try OldPlist(Array("{\(many)}".utf8).span) }
        let long = [UInt8](repeating: 0x20, count: OldPlist.sizeMax + 1)
        #expect(throws: FormatFault.tooLarge(at: OldPlist.sizeMax)) { try OldPlist(long.span) }
    }

    @Test("is written so that it is read back")
    func roundTrip() throws {
        let pairs = [
            OldPlist.Pair(key: "bid", value: "com.example.app"), OldPlist.Pair(key: "odd", value: "a\"b\\c\nd é"),
        ]
        let text = OldPlist.encode(pairs)
        #expect(try OldPlist(text.span).pairs == pairs)
        #expect(text.starts(with: Array("{\n\t\"bid\" = \"com.example.app\";\n".utf8)))
    }

    @Test(
        "is told from JSON",
        arguments: [
            ("{\n\t\"signature\" = \"A\";\n}", true), ("{a=b;}", true), ("{/**/ a = b; }", true),
            ("{\"receipt-data\": \"A\"}", false), ("{}", false), ("{ }", false), ("", false), ("{", false),
            ("{\"a", false), ("[1]", false), ("eyJ", false),
        ]
    )
    func isLikely(text: String, expected: Bool) {
        #expect(OldPlist.isLikely(text.utf8) == expected)
    }
}
