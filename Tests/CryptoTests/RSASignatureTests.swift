import Crypto
import TestSupport
import Testing

@Suite struct RSASignatureTests {
    private static let message = Array("a message that was signed".utf8)
    private static let key = Result { () throws(CryptoError) in try PrivateKey(generate: .rsa2048) }

    @Test(arguments: [PrivateKey.Algorithm.rsa1024, .rsa2048], [Digest.sha1, .sha256])
    func oldStrengthsAreNotRefused(algorithm: PrivateKey.Algorithm, digest: Digest) throws {
        let key = try PrivateKey(generate: algorithm)
        let signature = try key.signRSA(Self.message, digest: digest)
        #expect(key.publicKey.isValidRSA(signature: signature, message: Self.message, digest: digest))
        for other in Digest.allCases where other != digest {
            #expect(!key.publicKey.isValidRSA(signature: signature, message: Self.message, digest: other))
        }
        #expect(!key.publicKey.isValidRSA(signature: signature, message: Self.message + [0], digest: digest))
        for bit in stride(from: 0, to: signature.count * 8, by: 7) {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.publicKey.isValidRSA(signature: changed, message: Self.message, digest: digest))
        }
    }

    /// Bytes to try, and whether they are valid.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var isValid: Bool
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], isValid: Bool) {
            self.name = name
            self.bytes = bytes
            self.isValid = isValid
        }
    }

    private static let signatures: [Row] = {
        guard let right = try? key.get().signRSA(message, digest: .sha256) else { return [] }
        return [
            Row("as it is", right, isValid: true),
            Row("a byte more", right + [0], isValid: false),
            Row("a byte before", [0] + right, isValid: false),
            Row("a byte less", Array(right.dropLast()), isValid: false),
            Row("the first byte missing", Array(right.dropFirst()), isValid: false),
            Row("empty", [], isValid: false),
            Row("half", Array(right.prefix(128)), isValid: false),
            Row("zeros", [UInt8](repeating: 0, count: right.count), isValid: false),
            Row("one", [UInt8](repeating: 0, count: right.count - 1) + [1], isValid: false),
            Row("not less than the modulus", [UInt8](repeating: 0xFF, count: right.count), isValid: false),
            Row("backwards", right.reversed(), isValid: false),
        ]
    }()

    @Test(arguments: signatures)
    func aSignatureIsValidOnlyAsItIs(row: Row) throws {
        let key = try Self.key.get().publicKey
        #expect(key.isValidRSA(signature: row.bytes, message: Self.message, digest: .sha256) == row.isValid)
    }

    @Test func everyRowIsThere() {
        #expect(Self.signatures.count == 11)
    }

    @Test func aLeadingZeroMayNotBeLeftOut() throws {
        let key = try Self.key.get()
        for turn in 0..<10_000 {
            let message = Array("message \(turn)".utf8)
            let signature = try key.signRSA(message, digest: .sha256)
            guard signature.first == 0 else { continue }
            #expect(key.publicKey.isValidRSA(signature: signature, message: message, digest: .sha256))
            let short = Array(signature.dropFirst())
            #expect(!key.publicKey.isValidRSA(signature: short, message: message, digest: .sha256))
            return
        }
        Issue.record("no signature began with a zero")
    }

    /// Blocks as they stand under the signature (RFC 8017 § 9.2).
    private static let blocks: [Row] = {
        let hash = Digest.sha256(message)
        return [
            Row("right", block(info(hash)), isValid: true),
            Row(
                "without the algorithm's NULL",
                block(bytes(hexadecimal: "302F300B0609608648016503040201 0420") + hash),
                isValid: false
            ),
            Row("block type 2", block(info(hash), type: 2), isValid: false),
            Row("block type 0", block(info(hash), type: 0), isValid: false),
            Row("no zero at the front", block(info(hash), first: 1), isValid: false),
            Row("a byte of the filling is not FF", replaced(block(info(hash)), at: 20, by: 0xFE), isValid: false),
            Row("filling ends early", replaced(block(info(hash)), at: 20, by: 0), isValid: false),
            Row("no zero after the filling", replaced(block(info(hash)), at: 256 - 52, by: 0xFF), isValid: false),
            Row("short filling, rest behind", padded([0, 1] + filling(8) + [0] + info(hash)), isValid: false),
            Row("no filling, rest behind", padded([0, 1, 0] + info(hash)), isValid: false),
            Row(
                "rest inside the algorithm",
                block(bytes(hexadecimal: "3033300F0609608648016503040201 0502AAAA 0420") + hash),
                isValid: false
            ),
            Row(
                "SHA-1's name on SHA-256's hash",
                block(bytes(hexadecimal: "302D300906052B0E03021A0500 0420") + hash),
                isValid: false
            ),
            Row(
                "a hash cut short",
                block(bytes(hexadecimal: "3030300D06096086480165030402010500 041F") + hash.dropLast()),
                isValid: false
            ),
            Row("a byte after the hash", block(info(hash) + [0]), isValid: false),
            Row(
                "a long form of a length",
                block(bytes(hexadecimal: "308131300D06096086480165030402010500 0420") + hash),
                isValid: false
            ),
            Row("the bare hash", block(hash), isValid: false),
        ]
    }()

    /// Signed by another program: raw decryption is signing without any padding.
    @Test(arguments: blocks)
    func onlyTheRightBlockCounts(row: Row) throws {
        let key = try Self.key.get()
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        try #require(row.bytes.count == 256)
        let answer = try tool.run([
            "pkeyutl", "-decrypt", "-inkey", try tool.write(try key.pem(), as: "key.pem"), "-in",
            try tool.write(row.bytes, as: "block"), "-out", tool.path("signature"), "-pkeyopt",
            "rsa_padding_mode:none",
        ])
        try #require(answer.isSuccess, "\(answer.text)")
        let signature = try tool.read("signature")
        #expect(
            key.publicKey.isValidRSA(signature: signature, message: Self.message, digest: .sha256) == row.isValid
        )
    }

    @Test func anotherSchemeIsRefused() throws {
        let key = try Self.key.get()
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let answer = try tool.run([
            "dgst", "-sha256", "-sign", try tool.write(try key.pem(), as: "key.pem"), "-sigopt",
            "rsa_padding_mode:pss", "-out", tool.path("signature"), try tool.write(Self.message, as: "message"),
        ])
        try #require(answer.isSuccess, "\(answer.text)")
        let signature = try tool.read("signature")
        #expect(signature.count == 256)
        #expect(!key.publicKey.isValidRSA(signature: signature, message: Self.message, digest: .sha256))
    }

    @Test func onlyAnRSAKeyVerifies() throws {
        let signature = try Self.key.get().signRSA(Self.message, digest: .sha256)
        let curve = try PrivateKey(generate: .p256)
        #expect(!curve.publicKey.isValidRSA(signature: signature, message: Self.message, digest: .sha256))
        #expect(throws: CryptoError.self) { try curve.signRSA(Self.message, digest: .sha256) }
        let other = try PrivateKey(generate: .rsa2048)
        #expect(!other.publicKey.isValidRSA(signature: signature, message: Self.message, digest: .sha256))
    }

    /// DigestInfo of SHA-256.
    private static func info(_ hash: [UInt8]) -> [UInt8] {
        bytes(hexadecimal: "3031300D06096086480165030402010500 0420") + hash
    }

    private static func filling(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xFF, count: count) }

    private static func block(_ info: [UInt8], type: UInt8 = 1, first: UInt8 = 0) -> [UInt8] {
        [first, type] + filling(256 - 3 - info.count) + [0] + info
    }

    private static func padded(_ block: [UInt8]) -> [UInt8] {
        block + [UInt8](repeating: 0xAB, count: 256 - block.count)
    }

    private static func replaced(_ block: [UInt8], at index: Int, by byte: UInt8) -> [UInt8] {
        var block = block
        block[index] = byte
        return block
    }
}
