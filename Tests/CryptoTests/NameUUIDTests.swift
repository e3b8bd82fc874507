import Crypto
import Testing

@Suite struct NameUUIDTests {
    /// RFC 1321 § A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f"
        ),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func knownAnswers(text: String, expected: String) throws {
        #expect(hexadecimal(try #require(NameUUID.md5(Array(text.utf8)))) == expected)
    }

    /// The digits of the MD5 with a 3 and an 8 in their places, as the plugin's own function gives them.
    @Test(
        arguments: [
            ("user-42", 0x7631_BC07_A1CC_3FCD, 0x86E7_0FC6_B2FB_4A43),
            ("a", 0x0CC1_75B9_C0F1_36A8, 0x81C3_99E2_6977_2661),
            ("é", 0x66DD_CD97_CFDE_3BB2, 0x86FB_8A99_9B4B_C76F),
        ] as [(String, UInt64, UInt64)]
    )
    func aNameHasItsUUID(name: String, high: UInt64, low: UInt64) throws {
        let uuid = try #require(NameUUID.version3(Array(name.utf8)))
        #expect(uuid == (high, low))
    }

    @Test func noNameHasNone() {
        #expect(NameUUID.version3([]) == nil)
    }
}
