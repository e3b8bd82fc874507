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
