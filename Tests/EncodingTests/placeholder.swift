import Encoding
import Testing

@Suite struct Smoke {
    @Test func smoke() throws {
        let d = try JSONDocument(Array(#"{"a":1,"b":[true,null,{}, []],"c":{"d":"x\u00e9\ud83d\ude00"},"\u0065":-12.5e2, "f":9223372036854775807}"#.utf8))
        let o = try #require(d.root.object)
        #expect(o["a"]?.int64 == 1)
        #expect(o["b"]?.array?.count == 4)
        #expect(o["c"]?.object?["d"]?.string == "xé😀")
        #expect(o["e"]?.double == -1250)
        #expect(o["f"]?.int64 == .max)
        #expect(o.members.map(\.key) == ["a", "b", "c", "e", "f"])
        let back = JSONWriter.object { w in w.member("x", d.root); w.array("y") { $0.element("q\"\n"); $0.element(-5); $0.object { _ in } } ; w.member("z", nil as String?) }
        print(String(decoding: back, as: UTF8.self))
        _ = try JSONDocument(back)
        #expect(throws: JSONFault(.duplicateKey, at: 8)) { try JSONDocument(Array(#"{"a":1,"\u0061":2}"#.utf8)) }
        for n in 0..<40 {
            let b = (0..<n).map { UInt8(truncatingIfNeeded: $0 * 37) }
            for a in [Base64.Alphabet.standard, .url] { for p in [true, false] {
                let t = Base64.encode(b, a, isPadded: p)
                #expect(try Base64.decode(t, a, padding: p ? .required : .forbidden) == b)
                #expect(try Base64.decode(t, a, padding: .optional) == b)
            } }
        }
        #expect(RFC3339.text(milliseconds: 1_439_452_246_000) == "2015-08-13T07:50:46.000Z")
        #expect(RFC3339.milliseconds("2015-08-13T07:50:46.000Z") == 1_439_452_246_000)
    }
}
