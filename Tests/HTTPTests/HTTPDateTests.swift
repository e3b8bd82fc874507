import HTTP
import Testing

@Suite struct HTTPDateTests {
    /// 2026-11-21T00:00:00Z.
    private static let now: Int64 = 1_795_219_200_000

    @Test(
        arguments: [
            // RFC 9110 § 5.6.7: one moment in three forms.
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400), ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
            ("Sat, 21 Nov 2026 00:01:00 GMT", 1_795_219_260),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 08:49:37", nil), ("", nil), ("120", nil),
            ("Sun, 31 Feb 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 8:49 GMT", nil), ("soon", nil),
            ("1994-11-06T08:49:37Z", nil), ("Sun, -6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 99999 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 GMT GMT", nil),
        ] as [(String, Int64?)]
    )
    func theThreeFormsAreTaken(text: String, seconds: Int64?) {
        #expect(HTTPDate.milliseconds(text, at: Self.now) == seconds.map { $0 * 1_000 })
    }
}
