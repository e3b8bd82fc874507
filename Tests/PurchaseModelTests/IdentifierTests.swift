import PurchaseModel
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: [
        (text: "0", number: Int64(0)), ("1", 1), ("2000000123456789", 2_000_000_123_456_789),
        ("9223372036854775807", .max),
    ])
    func aTransactionIDIsItsCanonicalNumber(text: String, number: Int64) throws {
        let id = try #require(TransactionID(text))
        #expect(id.number == number)
        #expect(id.description == text)
        #expect(TransactionID(number: number) == id)
    }

    @Test(arguments: [
        "", "00", "01", "-1", "-0", "+1", " 1", "1 ", "1\n", "1.0", "1e3", "0x1", "1_000", "1\u{0}", "١", "１",
        "1\u{301}",
        "9223372036854775808", "10000000000000000000", "99999999999999999999999999",
    ])
    func noOtherFormOfANumberIsATransactionID(text: String) {
        #expect(TransactionID(text) == nil)
    }

    /// Digits are read eight at a time: each place of each length counts.
    @Test(arguments: 1...19)
    func aDigitCountsWhereverItStandsAndNothingElseDoes(length: Int) throws {
        var digits = (0..<length).map { UInt8(0x31 + ($0 * 7 + length) % 9) }
        digits[0] = 0x31
        let number = try #require(Int64(String(decoding: digits, as: UTF8.self)))
        #expect(TransactionID(digits: digits.span)?.number == number)
        for place in digits.indices {
            for byte in UInt8.min...UInt8.max {
                var other = digits
                other[place] = byte
                let isDigit = (0x30...0x39).contains(byte) && (place > 0 || length == 1 || byte != 0x30)
                let expected = isDigit ? Int64(String(decoding: other, as: UTF8.self)) : nil
                #expect(TransactionID(digits: other.span)?.number == expected)
            }
        }
    }

    @Test func aNegativeNumberIsNoTransactionID() {
        #expect(TransactionID(number: -1) == nil)
        #expect(TransactionID(number: .min) == nil)
    }

    @Test func transactionIDsAreOrderedByNumberAndNotByText() throws {
        #expect(try #require(TransactionID("9")) < #require(TransactionID("10")))
    }

    @Test(arguments: ["a", "com.example.app", "~!@#$%^&*()\"'<>\\", String(repeating: "x", count: 255)])
    func printableASCIIIsAnIdentifier(text: String) throws {
        #expect(try #require(ProductID(text)).text == text)
        #expect(try #require(CustomerID(text)).description == text)
    }

    @Test(arguments: [
        "", " ", "a b", "a\n", "\r\n", "a\u{0}", "\u{7F}", "\u{1B}[2J", "caf\u{E9}", "cafe\u{301}", "\"\u{301}",
        "a\u{200B}",
        "\u{202E}a", "日本", "😀", "\u{FEFF}a", String(repeating: "x", count: 256),
    ])
    func anythingElseIsNone(text: String) {
        #expect(ProductID(text) == nil)
        #expect(BundleID(text) == nil)
        #expect(AppID(text) == nil)
        #expect(CustomerID(text) == nil)
        #expect(OrderID(text) == nil)
    }

    /// What stands in paths is given no name that is a step there. What has it can be read.
    @Test func noNewNameIsAStepOfAPath() {
        for text in [".", ".."] {
            #expect(CustomerID(given: text) == nil && CustomerID(text) != nil)
            #expect(OrderID(given: text) == nil && OrderID(text) != nil)
            #expect(EntitlementID(given: text) == nil && CurrencyID(given: text) == nil)
            #expect(ProductID(given: text)?.text == text)
        }
        for text in ["...", ".a", "a.", "%2E", "/"] { #expect(CustomerID(given: text)?.text == text) }
        for text in ["", "a b", "\u{E9}"] { #expect(CustomerID(given: text) == nil && ProductID(given: text) == nil) }
        #expect(OrderID.rule == ProductID.rule + ", and neither . nor ..")
    }

    /// A program that lost its customer's name must not make one customer of all who buy. Who has the name can be read.
    @Test(arguments: [
        "null", "NULL", "(null)", "<null>", "nil", "None", "NaN", "undefined", "00000000-0000-0000-0000-000000000000",
    ])
    func noNewCustomerIsAWordForNothing(word: String) {
        #expect(CustomerID(given: word) == nil && CustomerID(word) != nil)
        for name in [word + "1", "u-" + word] { #expect(CustomerID(given: name)?.text == name) }
        #expect(OrderID(given: word)?.text == word && EntitlementID(given: word)?.text == word)
        #expect(CustomerID.rule.hasSuffix("and no word for nothing such as null or undefined"))
    }

    @Test func identifiersAreOrderedByTheirBytes() throws {
        let ordered = try ["A", "B", "a", "a-", "aa", "b"].map { try #require(AppID($0)) }
        #expect(ordered.shuffled().sorted() == ordered)
    }

    @Test func anAccountTokensHalvesAreItsDigits() {
        let token = AccountToken(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        #expect(token.description == "01234567-89ab-cdef-fedc-ba9876543210")
    }
}
