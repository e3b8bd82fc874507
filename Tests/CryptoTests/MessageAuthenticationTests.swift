import Crypto
import TestSupport
import Testing

@Suite struct MessageAuthenticationTests {
    /// RFC 4231 §§ 4.2 to 4.4, 4.7, 4.8.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func knownAnswers(key: [UInt8], message: [UInt8], expected: String) {
        #expect(hexadecimal(MessageAuthentication.hmacSHA256(key: key, message: message)) == expected)
    }

    @Test func emptyKeyAndMessageHaveAnAnswer() {
        #expect(
            hexadecimal(MessageAuthentication.hmacSHA256(key: [], message: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        )
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1], [2], false), ([1], [], false), ([1, 2], [1], false),
            ([0, 0], [0], false), ([1, 2, 3], [1, 2, 4], false), ([9, 2, 3], [1, 2, 3], false),
        ] as [([UInt8], [UInt8], Bool)]
    )
    func equalityIsOfAllBytes(left: [UInt8], right: [UInt8], isEqual: Bool) {
        #expect(MessageAuthentication.areEqual(left, right) == isEqual)
        #expect(MessageAuthentication.areEqual(right, left) == isEqual)
    }

    @Test func randomBytesDiffer() {
        #expect(SecureRandom.bytes(0).isEmpty)
        let drawn = Set((0..<100).map { _ in SecureRandom.bytes(32) })
        #expect(drawn.count == 100)
        #expect(drawn.allSatisfy { $0.count == 32 })
    }
}
