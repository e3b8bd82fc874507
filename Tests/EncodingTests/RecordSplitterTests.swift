import Encoding
import Testing

@Suite struct RecordSplitterTests {
    /// Fed in parts of every length, it cuts the same records.
    @Test(arguments: [
        (text: "a\nbc\n", hasQuotes: false, records: ["1:a", "2:bc"], ends: [2, 5]),
        ("a\r\n\r\nb", false, ["1:a", "2:", "3:b"], [3, 5, 6]),
        ("", false, [], []),
        ("\n", false, ["1:"], [1]),
        ("1,\"a\nb\"\n2,c\n", true, ["1:1,\"a\nb\"", "3:2,c"], [8, 12]),
        ("1,\"a\"\"\nb\"\n2", true, ["1:1,\"a\"\"\nb\"", "3:2"], [10, 11]),
        ("\"a\nb\"\n", false, ["1:\"a", "2:b\""], [3, 6]),
        ("\"open\nto the end", true, ["1:\"open\nto the end"], [16]),
        ("a\n\"open\nto the end\n", true, ["1:a", "2:\"open\nto the end\n"], [2, 19]),
        // A quote that does not begin its field is text.
        ("1,5\",x\n2,c\n", true, ["1:1,5\",x", "2:2,c"], [7, 11]),
        ("5\"\n\"2\nb\",6\"\n3", true, ["1:5\"", "2:\"2\nb\",6\"", "4:3"], [3, 12, 13]),
        ("\"a\"b\"\nc", true, ["1:\"a\"b\"", "2:c"], [6, 7]),
        ("\"\"\"\na\",\"\"\nb", true, ["1:\"\"\"\na\",\"\"", "3:b"], [10, 11]),
    ])
    func linesAreRecords(text: String, hasQuotes: Bool, records: [String], ends: [Int64]) {
        let bytes = Array(text.utf8)
        for step in 1...max(1, bytes.count) {
            var splitter = RecordSplitter(bytesMax: 100, delimiter: hasQuotes ? UInt8(ascii: ",") : nil)
            var found: [RecordSplitter.Record] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                found += splitter.feed(Array(bytes[start..<min(start + step, bytes.count)]))
            }
            found += [splitter.finish()].compactMap(\.self)
            #expect(found.map { "\($0.line):\(String(decoding: $0.bytes, as: UTF8.self))" } == records)
            #expect(found.map(\.end) == ends)
            #expect(found.allSatisfy { !$0.isTooLong })
            for record in found {
                let lineEnds = Int64(record.bytes.dropLast(record.bytes.last == 0x0A ? 1 : 0).count { $0 == 0x0A })
                #expect(record.lastLine == record.line + lineEnds)
            }
        }
    }

    @Test func whatIsTooLongIsToldOfAndTheNextRecordIsWhole() {
        for delimiter in [nil, UInt8(ascii: ",")] {
            var splitter = RecordSplitter(from: 50, line: 7, bytesMax: 4, delimiter: delimiter)
            let found = splitter.feed(Array("ab\n\"123456\ncd\n".utf8)) + [splitter.finish()].compactMap(\.self)
            #expect(found.map(\.isTooLong) == [false, true, false])
            #expect(found.map(\.line) == [7, 8, 9])
            #expect(found.last?.bytes == Array("cd".utf8))
            #expect(found.last?.end == 64)
            #expect(found.last?.lineAfter == 10)
        }
    }
}
