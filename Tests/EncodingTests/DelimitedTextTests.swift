import Encoding
import Testing

@Suite struct DelimitedTextTests {
    @Test(arguments: [
        (text: "a,b", fields: ["a", "b"]),
        ("", [""]),
        (",", ["", ""]),
        ("\"a,b\",c", ["a,b", "c"]),
        ("\"say \"\"hi\"\"\",", ["say \"hi\"", ""]),
        ("\"two\nlines\"", ["two\nlines"]),
        ("a\"b,c", ["a\"b", "c"]),
    ])
    func quotesHoldDelimiters(text: String, fields: [String]) throws {
        for delimiter in [",", ";", "\t"] {
            let text = text.replacing(",", with: delimiter)
            let fields = fields.map { $0.replacing(",", with: delimiter) }
            let found = try DelimitedText.fields(
                of: Array(text.utf8),
                .quoted(delimiter: try #require(delimiter.utf8.first))
            )
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == fields)
        }
    }

    /// As clients of databases write it into a table with commas: a customer called `NULL` would own everybody's purchases.
    @Test(arguments: [
        (text: "\\N,a,NULL", fields: ["", "a", ""]),
        (" NULL ,\t\\N,NULL", ["", "", ""]),
        ("\"NULL\",\"\\N\",x", ["NULL", "\\N", "x"]),
        ("NULLs,\\n,null", ["NULLs", "\\n", "null"]),
    ])
    func nothingHasNoQuotes(text: String, fields: [String]) throws {
        let found = try DelimitedText.fields(of: Array(text.utf8), .quoted(delimiter: UInt8(ascii: ",")))
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == fields)
    }

    @Test func whatIsWrittenIsReadAsItWas() throws {
        let fields = ["a", "", "NULL", "\\N", " NULL", "null", "b,c", "say \"hi\"", "two\nlines", "\r"]
        let record = DelimitedText.record(of: fields.map { Array($0.utf8) })
        #expect(record.suffix(2) == [0x0D, 0x0A])
        let found = try DelimitedText.fields(of: record.dropLast(2), .quoted(delimiter: UInt8(ascii: ",")))
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == fields)
        #expect(String(decoding: DelimitedText.record(of: [[0x61], [], [0x62]]), as: UTF8.self) == "a,,b\r\n")
    }

    /// A customer may be called by a telephone's number, and nobody wants to open what is called `=HYPERLINK(…)`.
    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+4930", "'+4930"), ("-1", "'-1"), ("@ann", "'@ann"), ("\t=1", "'\t=1"), ("\r=1", "'\r=1"),
        ("'=1", "''=1"), ("''@x", "'''@x"), ("'ann", "'ann"), ("ann=1", "ann=1"), ("", ""), ("'", "'"),
    ])
    func noTextIsAFormula(text: String, shown: String) {
        #expect(DelimitedText.shielded(Array(text.utf8)) == Array(shown.utf8))
        #expect(DelimitedText.unshielded(Array(shown.utf8)) == Array(text.utf8))
    }

    @Test(arguments: ["\"open", "\"a\"b,c", "a,\"", "\"a\" ,b"])
    func anOpenQuoteIsNoField(text: String) {
        #expect(throws: DelimitedText.Fault.quote) {
            try DelimitedText.fields(of: Array(text.utf8), .quoted(delimiter: UInt8(ascii: ",")))
        }
    }

    @Test(arguments: [
        (text: "a\tb", fields: ["a", "b"]),
        ("a\\tb\\n\\\\c\t\\N\tNULL\t", ["a\tb\n\\c", "", "", ""]),
        ("\"a\"\tNULLs\t\\", ["\"a\"", "NULLs", "\\"]),
    ])
    func tabsAreReadAsTheClientsOfDatabasesWriteThem(text: String, fields: [String]) throws {
        let found = try DelimitedText.fields(of: Array(text.utf8), .tabs)
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == fields)
    }

    @Test func aRowOfTooManyFieldsIsNone() {
        let text = String(repeating: ",", count: DelimitedText.fieldsMax)
        #expect(throws: DelimitedText.Fault.tooManyFields) {
            try DelimitedText.fields(of: Array(text.utf8), .quoted(delimiter: UInt8(ascii: ",")))
        }
        #expect(throws: DelimitedText.Fault.tooManyFields) {
            try DelimitedText.fields(of: Array(text.replacing(",", with: "\t").utf8), .tabs)
        }
    }
}
