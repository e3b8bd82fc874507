import AppleFormats
import Encoding
import Testing

@Suite("Apple's dates")
struct AppleDateTests {
    static let rows: [(text: String, milliseconds: Int64?)] = [
        ("1970-01-01T00:00:00Z", 0),
        ("2013-08-01T07:00:00Z", 1_375_340_400_000),
        ("2000-02-29T12:00:00Z", 951_825_600_000),
        ("2020-10-16T14:29:30+0300", 1_602_847_770_000),
        ("2020-10-16T14:29:30+03:00", 1_602_847_770_000),
        ("2020-10-16T14:29:30-0530", 1_602_878_370_000),
        ("2020-10-16T14:29:30.5Z", 1_602_858_570_500),
        ("2020-10-16T14:29:30.123456Z", 1_602_858_570_123),
        ("2020-10-16T14:29:30.250+0300", 1_602_847_770_250),
        ("4001-01-01T00:00:00Z", 64_092_211_200_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2012-07-12 12:54:35 Etc/GMT", 1_342_097_675_000),
        ("2012-07-12 05:54:35 America/Los_Angeles", nil),
        ("2012-07-12 12:54:35 Etc/GMT ", nil),
        ("2012-07-12 12:54:35", nil),
        ("2012-07-12T12:54:35", nil),
        ("2012-07-12T12:54:35 Etc/GMT", nil),
        ("2012-07-12 12:54:35Z", nil),
        ("2012-07-12T12:54:35z", nil),
        ("2012-07-12T12:54:35.Z", nil),
        ("2012-07-12T12:54:35.5", nil),
        ("2012-07-12T12:54:35+03", nil),
        ("2012-07-12T12:54:35+2400", nil),
        ("2012-07-12T12:54:35+03:0", nil),
        ("2012-07-12T12:54:35+03;00", nil),
        ("2012-07-12T12:54:35ZZ", nil),
        ("2012-07-12T24:00:00Z", nil),
        ("2012-07-12T23:60:00Z", nil),
        ("2012-07-12T23:59:60Z", nil),
        ("2012-13-01T00:00:00Z", nil),
        ("2012-00-01T00:00:00Z", nil),
        ("2012-04-31T00:00:00Z", nil),
        ("1900-02-29T00:00:00Z", nil),
        ("2012/07/12T12:54:35Z", nil),
        ("+012-07-12T12:54:35Z", nil),
        ("", nil),
        ("2012-07-12T12:54:35.00000000000000000000000000000000Z", nil),
    ]

    @Test("are read in every shape that receipts have", arguments: rows)
    func read(text: String, milliseconds: Int64?) {
        #expect(AppleDate.milliseconds(text) == milliseconds)
    }

    /// Octets are looked at eight at a time: each counts where it stands.
    @Test("count each octet in its place, whatever it is", arguments: 0..<20)
    func everyOctet(place: Int) {
        for octet in UInt8.min...UInt8.max {
            var usual = Array("2016-12-29T21:54:32Z".utf8)
            usual[place] = octet
            #expect(AppleDate.milliseconds(usual.span) == Self.readOneByOne(usual))
            let fraction = usual.prefix(19) + Array(".0".utf8) + usual.suffix(1)
            #expect(AppleDate.milliseconds(Array(fraction).span) == Self.readOneByOne(usual))
        }
    }

    /// `2016-12-29T21:54:32Z` and nothing else of that length, each part by itself.
    private static func readOneByOne(_ text: [UInt8]) -> Int64? {
        func number(_ range: Range<Int>) -> Int? {
            guard text[range].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return text[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let form = Array("....-..-..T..:..:..Z".utf8)
        guard zip(text, form).allSatisfy({ $1 == UInt8(ascii: ".") || $0 == $1 }) else { return nil }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        return civil?.milliseconds
    }
}
