import Encoding
import Testing

@Suite struct JSONLimitsTests {
    @Test(arguments: [0, 1, 2, 64])
    func depthEndsWhereTheLimitSays(depth: Int) throws {
        let limits = JSONLimits(bytesMax: 1_000, depthMax: depth)
        let open = ["[", #"{"a":"#]
        let close = ["]", "}"]
        for shape in 0...1 {
            func nested(_ count: Int) -> [UInt8] {
                let text =
                    String(repeating: open[shape], count: count) + "1" + String(repeating: close[shape], count: count)
                return Array(text.utf8)
            }
            _ = try JSONDocument(nested(depth), limits: limits)
            #expect(throws: JSONFault(.tooDeep, at: depth * open[shape].utf8.count)) {
                try JSONDocument(nested(depth + 1), limits: limits)
            }
        }
    }

    @Test func siblingsAreNotDepth() throws {
        let text = "[" + Array(repeating: "[[]]", count: 1_000).joined(separator: ",") + "]"
        #expect(
            try JSONDocument(Array(text.utf8), limits: JSONLimits(bytesMax: 10_000, depthMax: 3)).root.array?.count
                == 1_000
        )
    }

    @Test func aMillionBracketsNeitherTrapNorRecurse() {
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(throws: JSONFault(.tooDeep, at: 64)) { try JSONDocument(brackets) }
        #expect(throws: JSONFault(.unexpectedEnd, at: 1_000_000)) {
            try JSONDocument(brackets, limits: JSONLimits(bytesMax: 1_000_000, depthMax: .max))
        }
    }

    @Test func lengthEndsWhereTheLimitSays() throws {
        let limits = JSONLimits(bytesMax: 5, depthMax: 1)
        _ = try JSONDocument(Array("[1,2]".utf8), limits: limits)
        #expect(throws: JSONFault(.tooLong, at: 5)) { try JSONDocument(Array("[1,2] ".utf8), limits: limits) }
    }

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, 8), (#"{"a":1,"b":2,"a":3}"#, 14), (#"{"":1,"":2}"#, 7), (#"{"a":1,"\u0061":1}"#, 8),
        (#"{"\u0061":1,"a":1}"#, 13), (#"{"\u0061":1,"\u0061":1}"#, 13), (#"{"\/":1,"/":1}"#, 9),
        (#"{"😀":1,"\ud83d\ude00":1}"#, 11), (#"[{"x":{"a":1,"a":2}}]"#, 14),
        (#"{"a":{"b":1},"b":{"a":1,"b":2,"b":3}}"#, 31),
    ])
    func aNameThatComesTwiceIsRefused(text: String, offset: Int) {
        #expect(throws: JSONFault(.duplicateKey, at: offset)) { try JSONDocument(Array(text.utf8)) }
    }

    @Test(arguments: [
        #"{"a":1,"A":1}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#, #"{"ab":1,"ba":1,"a":1,"b":1,"":1}"#,
        // The same to a reader who compares by canonical equivalence, not to us.
        "{\"caf\u{E9}\":1,\"cafe\u{301}\":1}", #"{"\\u0061":1,"\u0061":1}"#, #"{"a":"a","b":"a"}"#,
    ])
    func differentNamesAreNotTakenForOne(text: String) throws {
        _ = try JSONDocument(Array(text.utf8))
    }

    @Test(arguments: [2, 31, 32, 33, 34, 200, 5_000], [true, false])
    func aTwinIsFoundInObjectsOfEverySize(count: Int, isEscaped: Bool) throws {
        let names = (0..<count).map { "\"name\($0)\":\($0)" }
        _ = try JSONDocument(Array("{\(names.joined(separator: ","))}".utf8))
        for twin in [0, count / 2, count - 1] {
            let name = isEscaped ? #"\u006eame\#(twin)"# : "name\(twin)"
            let text = "{\(names.joined(separator: ",")),\"\(name)\":0}"
            #expect(throws: JSONFault(.duplicateKey, at: text.utf8.count - name.utf8.count - 4)) {
                try JSONDocument(Array(text.utf8))
            }
        }
    }

    /// Quadratic work would take minutes here.
    @Test(.timeLimit(.minutes(15)))
    func aHundredThousandNamesAreCheckedInLinearTime() throws {
        let names = (0..<100_000).map { "\"n\($0)\":0" }.joined(separator: ",")
        let document = try JSONDocument(Array("{\(names)}".utf8))
        #expect(document.root.object?.count == 100_000)
    }

    /// Names that are dear to compare: long, alike up to the end, escaped. A text of 1 MiB each.
    @Test(
        .timeLimit(.minutes(15)),
        arguments: [(letter: "a", count: 30_000), (letter: "\\u0061", count: 5_000), (letter: "\\/", count: 15_000)]
    )
    func namesThatAreDearToCompareAreCheap(letter: String, count: Int) throws {
        let long = String(repeating: letter, count: count)
        let names = (10..<42).map { "\"\(long)\($0)\":0" }.joined(separator: ",")
        let object = try #require(JSONDocument(Array("{\(names)}".utf8)).root.object)
        #expect(object.count == 32)
        for _ in 0..<20 { #expect(object["aa"] == nil) }
    }
}
