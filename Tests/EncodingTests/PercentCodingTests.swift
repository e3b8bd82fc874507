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

    @Test(arguments: [
        ("a%20b%2Fc%3Fd", "a b/c?d"), ("%C3%A9%25", "\u{E9}%"), ("a+b", "a+b"), ("", ""), ("%7e", "~"),
        ("%", nil), ("%4", nil), ("%4g", nil), ("%00", nil), ("%7F", nil), ("%C3", nil), ("%0A", nil),
    ])
    func whatWasEncodedIsReadStrictly(text: String, decoded: String?) {
        #expect(PercentCoding.decode(text.utf8) == decoded)
    }

    @Test func aQueryHasItsMarkOnlyWhenThereIsOne() {
        #expect(PercentCoding.query([]) == "")
        #expect(PercentCoding.query([("a", "1&2"), ("b c", "=")]) == "?a=1%262&b%20c=%3D")
    }
}
