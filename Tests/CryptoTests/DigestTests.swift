import Crypto
import TestSupport
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4's examples, as NIST publishes them.
    @Test(arguments: [
        (Digest.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            .sha1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            .sha384, "abc",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ),
    ])
    func knownAnswers(digest: Digest, text: String, expected: String) {
        let hash = digest.hash(Array(text.utf8).span)
        #expect(hexadecimal(hash) == expected)
        #expect(hash.count == digest.length)
    }

    @Test func aMillionLettersGiveTheKnownAnswer() {
        let bytes = [UInt8](repeating: 0x61, count: 1_000_000)
        #expect(hexadecimal(Digest.sha1(bytes)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        #expect(
            hexadecimal(Digest.sha256(bytes)) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }

    @Test(arguments: UInt64(0)..<50)
    func aPrefixAndItsRestHashAsTheWhole(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = random.bytes(Int.random(in: 0...400, using: &random))
        let cut = Int.random(in: 0...bytes.count, using: &random)
        for digest in Digest.allCases {
            let prefix = DigestPrefix(digest, of: bytes.span.extracting(0..<cut))
            let whole = digest.hash(bytes.span)
            #expect(prefix.hash(appending: bytes.span.extracting(cut..<bytes.count)) == whole)
            #expect(prefix.hash(appending: bytes.span.extracting(cut..<bytes.count)) == whole, "asking changes nothing")
        }
    }

    @Test func aPartIsHashedInItsPlace() {
        let bytes = Array("xxabcxx".utf8)
        #expect(Digest.sha256(bytes.span.extracting(2..<5)) == Digest.sha256(Array("abc".utf8)))
    }
}
