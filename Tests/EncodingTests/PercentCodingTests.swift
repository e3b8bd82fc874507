import Encoding
import Testing

@Suite struct PercentCodingTests {
    @Test(arguments: [
        ("abcXYZ019-._~", "abcXYZ019-._~"), ("a b/c?d", "a%20b%2Fc%3Fd"), ("\u{E9}%", "%C3%A9%25"), ("", ""),
        // Steps in a path are not names.
        (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), (".a", ".a"),
    ])
    func whatIsNotPlainIsWrittenByItsBytes(text: String, encoded: String) {
        #expect(PercentCoding.encode(text) == encoded)
    }

    @Test func aQueryHasItsMarkOnlyWhenThereIsOne() {
        #expect(PercentCoding.query([]) == "")
        #expect(PercentCoding.query([("a", "1&2"), ("b c", "=")]) == "?a=1%262&b%20c=%3D")
    }
}
