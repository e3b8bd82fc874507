import Crypto
import Encoding
import TestSupport
import Testing

@Suite struct ECDSASignatureTests {
    /// The order of P-256, FIPS 186-4 § D.1.2.3.
    private static let order = bytes(
        hexadecimal: "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
    )
    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one = [UInt8](repeating: 0, count: 31) + [1]
    private static let most = [UInt8](repeating: 0xFF, count: 32)
    private static let message = Array("a message that was signed".utf8)

    private static let signed: (key: PrivateKey, signature: [UInt8])? = {
        guard let key = try? PrivateKey(generate: .p256), let signature = try? key.signES256(message) else {
            return nil
        }
        return (key, signature)
    }()

    /// RFC 7515 § A.3.
    @Test func theRFCsExampleIsValid() throws {
        let x = try Base64.decode(Array("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".utf8), .url, padding: .forbidden)
        let y = try Base64.decode(Array("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".utf8), .url, padding: .forbidden)
        let head = bytes(hexadecimal: "3059301306072A8648CE3D020106082A8648CE3D030107034200 04")
        let key = try PublicKey(der: head + x + y)
        let signature = try Base64.decode(
            Array("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q".utf8),
            .url,
            padding: .forbidden
        )
        let payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let input = Array(("eyJhbGciOiJFUzI1NiJ9." + payload).utf8)
        #expect(key.isValidES256(signature: signature, message: input))
        let digest = Digest.sha256(input)
        let isValidByDigest = key.isValidES256(signature: signature.span, digest: digest.span)
        #expect(isValidByDigest)
        #expect(!key.isValidES256(signature: signature, message: input + [0]))
    }

    /// A signature made from a right pair of r and s, and whether it is valid.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var signature: [UInt8]
        var isValid: Bool
        var testDescription: String { name }

        init(_ name: String, _ signature: [UInt8], isValid: Bool) {
            self.name = name
            self.signature = signature
            self.isValid = isValid
        }
    }

    private static let rows: [Row] = {
        guard let signed else { return [] }
        let r = Array(signed.signature.prefix(32))
        let s = Array(signed.signature.suffix(32))
        return [
            Row("as it is", r + s, isValid: true),
            // ECDSA is malleable: the mirrored s is as good. Nothing may take a signature for an identity.
            Row("s mirrored", r + minus(order, s), isValid: true),
            Row("r mirrored", minus(order, r) + s, isValid: false),
            Row("r and s swapped", s + r, isValid: false),
            Row("r = 0, s = 0", zero + zero, isValid: false),
            Row("r = 0", zero + s, isValid: false),
            Row("s = 0", r + zero, isValid: false),
            Row("r = 1, s = 1", one + one, isValid: false),
            Row("r = n", order + s, isValid: false),
            Row("s = n", r + order, isValid: false),
            Row("r = n, s = n", order + order, isValid: false),
            Row("r = n, s = 0", order + zero, isValid: false),
            Row("r = n-1, s = n-1", minus(order, one) + minus(order, one), isValid: false),
            Row("r = n+1", plusOne(order) + s, isValid: false),
            Row("s = n+1", r + plusOne(order), isValid: false),
            Row("r = 2^256-1", most + s, isValid: false),
            Row("s = 2^256-1", r + most, isValid: false),
            Row("r twice", r + r, isValid: false),
            Row("r + s in 63 bytes", (r + s).dropLast(), isValid: false),
            Row("the first byte missing", Array((r + s).dropFirst()), isValid: false),
            Row("a byte more", r + s + [0], isValid: false),
            Row("a byte before", [0] + r + s, isValid: false),
            Row("a byte before each", [0] + r + [0] + s, isValid: false),
            Row("empty", [], isValid: false),
            Row("only r", r, isValid: false),
            Row("twice, 128 bytes", r + s + r + s, isValid: false),
            Row("as DER", der(r, s), isValid: false),
            Row("as DER, filled to 64 bytes", Array((der(r, s) + zero).prefix(64)), isValid: false),
        ]
    }()

    @Test(arguments: rows)
    func aSignatureIsValidOnlyAsItIs(row: Row) throws {
        let key = try #require(Self.signed).key.publicKey
        #expect(key.isValidES256(signature: row.signature, message: Self.message) == row.isValid)
        let digest = Digest.sha256(Self.message)
        let isValidByDigest = key.isValidES256(signature: row.signature.span, digest: digest.span)
        #expect(isValidByDigest == row.isValid)
    }

    @Test func everyRowIsThere() {
        #expect(Self.rows.count == 28)
    }

    @Test func noOtherBitPatternIsValid() throws {
        let signed = try #require(Self.signed)
        let key = signed.key.publicKey
        for bit in 0..<512 {
            var signature = signed.signature
            signature[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.isValidES256(signature: signature, message: Self.message), "bit \(bit)")
        }
        for bit in 0..<Self.message.count * 8 {
            var message = Self.message
            message[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.isValidES256(signature: signed.signature, message: message), "bit \(bit)")
        }
    }

    @Test(arguments: [0, 20, 31, 33, 64])
    func aDigestOfAnotherLengthIsRefused(count: Int) throws {
        let signed = try #require(Self.signed)
        let digest = Array((Digest.sha256(Self.message) + Self.most).prefix(count))
        let isValid = signed.key.publicKey.isValidES256(signature: signed.signature.span, digest: digest.span)
        #expect(!isValid)
    }

    @Test func onlyAKeyOnP256Verifies() throws {
        let signed = try #require(Self.signed)
        for algorithm in [PrivateKey.Algorithm.p256, .p384, .rsa2048] {
            let other = try PrivateKey(generate: algorithm)
            #expect(!other.publicKey.isValidES256(signature: signed.signature, message: Self.message))
            if algorithm != .p256 {
                #expect(throws: CryptoError.self) { try other.signES256(Self.message) }
            }
        }
    }

    /// A hundred, so that numbers with leading zeros and with a first bit that is set are among them.
    @Test func theFormThatOpenSSLWritesIsTakenWholeOnly() throws {
        let key = try PrivateKey(generate: .p256)
        for _ in 0..<100 {
            let der = try key.sign(Self.message, digest: .sha256)
            #expect(key.publicKey.isValidES256(der: der, message: Self.message))
            #expect(!key.publicKey.isValidES256(der: der, message: Self.message + [0]))
            #expect(!key.publicKey.isValidES256(der: der + [0], message: Self.message))
            #expect(!key.publicKey.isValidES256(der: Array(der.dropLast()), message: Self.message))
        }
        #expect(!key.publicKey.isValidES256(der: [], message: Self.message))
        #expect(!key.publicKey.isValidES256(der: try key.signES256(Self.message), message: Self.message))
    }

    @Test(arguments: [0, 1, 55, 64, 1_000, 100_000])
    func whatIsSignedIsValid(length: Int) throws {
        var random = SeededRandom(seed: UInt64(length))
        let message = random.bytes(length)
        let key = try PrivateKey(generate: .p256)
        for _ in 0..<20 {
            let signature = try key.signES256(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValidES256(signature: signature, message: message))
        }
    }

    @Test func manyThreadsMayAskOneKey() async throws {
        let signed = try #require(Self.signed)
        let key = signed.key.publicKey
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for turn in 0..<200 {
                        let isRight = (task + turn).isMultiple(of: 2)
                        let message = isRight ? Self.message : Self.message + [UInt8(task)]
                        if key.isValidES256(signature: signed.signature, message: message) != isRight { wrong += 1 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    private static func minus(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var borrow = 0
        var result = left
        for index in left.indices.reversed() {
            let difference = Int(left[index]) - Int(right[index]) - borrow
            result[index] = UInt8((difference + 256) % 256)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }

    private static func plusOne(_ number: [UInt8]) -> [UInt8] {
        minus(number, most)
    }

    private static func der(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        let body = [r, s].flatMap { number -> [UInt8] in
            let short = Array(number.drop { $0 == 0 })
            let magnitude = (short.first ?? 0) >= 0x80 || short.isEmpty ? [0] + short : short
            return [0x02, UInt8(magnitude.count)] + magnitude
        }
        return [0x30, UInt8(body.count)] + body
    }

    @Test func aDigestIsSignedAsItsMessageIs() throws {
        let key = try PrivateKey(generate: .p256)
        let signature = try key.signES256(digest: Digest.sha256(Self.message))
        #expect(key.publicKey.isValidES256(signature: signature, message: Self.message))
        for length in [0, 20, 31, 33, 48] {
            #expect(throws: CryptoError.self) { try key.signES256(digest: [UInt8](repeating: 1, count: length)) }
        }
    }
}
