import PurchaseModel
import Testing
import Verification

@Suite struct AccountTokenTests {
    @Test(arguments: [
        "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e71", "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff", "01234567-89ab-cdef-0123-456789abcdef",
    ])
    func anAccountTokenIsAUUIDInEitherCase(text: String) throws {
        let token = try #require(AccountToken(uuid: text))
        #expect(token.description == text)
        #expect(AccountToken(uuid: text.uppercased()) == token)
    }

    @Test(arguments: [
        "", "7f9c24e8", "7f9c24e83b124fef91e02a5c0d8b6e71", "{7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e71}",
        "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e7", "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e711",
        "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e71 ", "7f9c24e8-3b12-4fef-91e0_2a5c0d8b6e71",
        "7f9c24e-83b12-4fef-91e0-2a5c0d8b6e71", "gf9c24e8-3b12-4fef-91e0-2a5c0d8b6e71",
        "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e7\u{661}", "7f9c24e8-3b12-4fef-91e0-2a5c0d8b6e7-",
    ])
    func noOtherTextIsAnAccountToken(text: String) {
        #expect(AccountToken(uuid: text) == nil)
    }

    @Test func anAccountTokensHalvesAreItsDigits() throws {
        let token = try #require(AccountToken(uuid: "01234567-89ab-cdef-fedc-ba9876543210"))
        #expect(token.high == 0x0123_4567_89AB_CDEF)
        #expect(token.low == 0xFEDC_BA98_7654_3210)
    }
}
