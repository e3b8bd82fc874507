import Encoding
import Testing

@Suite struct JSONWriterTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func anAnswer() {
        let answer = JSONWriter.object { answer in
            answer.member("status", "recorded")
            answer.member("count", 2)
            answer.member("at", Int64.min)
            answer.member("revoked", false)
            answer.member("left_out", nil as String?)
            answer.member("left_out", nil as Int64?)
            answer.member("left_out", nil as Bool?)
            answer.member("left_out", nil as JSONValue?)
            answer.null("nothing")
            answer.object("empty") { _ in }
            answer.array("items") { items in
                items.element("a")
                items.element(nil as String?)
                items.element(Int64.max)
                items.element(true)
                items.null()
                items.object { $0.member("b", 1) }
                items.array { _ in }
            }
        }
        #expect(
            text(answer) == #"{"status":"recorded","count":2,"at":-9223372036854775808,"revoked":false,"nothing":null,"#
                + #""empty":{},"items":["a",9223372036854775807,true,null,{"b":1},[]]}"#
        )
    }

    @Test(arguments: [
        ("", ""), ("a/<>&'", "a/<>&'"), ("\"\\", #"\"\\"#), ("\n\r\t", #"\n\r\t"#),
        ("\u{0}\u{1F}\u{7F}", #"\u0000\u001f\u007f"#),
        ("\u{8}\u{C}", #"\u0008\u000c"#), ("\"\u{301}", "\\\"\u{301}"), ("\r\n", #"\r\n"#), ("😀\u{2028}", "😀\u{2028}"),
    ])
    func stringsAreEscapedByteByByte(value: String, inside: String) {
        let expected = Array("{\"\(inside)\":\"\(inside)\"}".utf8)
        #expect(JSONWriter.object { $0.member(value, value) } == expected)
    }

    @Test func aValueOfAnotherDocumentIsCopiedAsItIs() throws {
        let document = try JSONDocument(Array(#" { "a" : [ 1.50 , "\u0041" ] } "#.utf8))
        let copy = JSONWriter.array { array in
            array.element(document.root)
            array.element(document.root.object?["a"]?.array?[1])
        }
        #expect(text(copy) == #"[{ "a" : [ 1.50 , "\u0041" ] },"\u0041"]"#)
    }

    @Test func whatThrowsLeavesTheBufferAsItWas() {
        struct Stop: Error {}
        var buffer = Array("before\n".utf8)
        #expect(throws: Stop.self) {
            try JSONWriter.object(onto: &buffer) { writer throws(Stop) in
                writer.member("a", 1)
                try writer.array("b") { _ throws(Stop) in throw Stop() }
            }
        }
        #expect(text(buffer) == "before\n")
        JSONWriter.object(onto: &buffer) { $0.member("a", 1) }
        #expect(text(buffer) == "before\n{\"a\":1}")
    }
}
