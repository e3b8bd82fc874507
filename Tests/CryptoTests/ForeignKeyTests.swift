import Crypto
import TestSupport
import Testing

/// Keys that another program made, and which look like what we accept.
@Suite struct ForeignKeyTests {
    @Test(arguments: [
        (["-name", "prime256v1"], PublicKey.Kind.p256),
        (["-name", "secp384r1"], .p384),
        // A curve that is spelled out could have another generator: it is never taken for the one it looks like.
        (["-name", "prime256v1", "-param_enc", "explicit"], .other),
        (["-name", "secp384r1", "-param_enc", "explicit"], .other),
        (["-name", "secp256k1"], .other),
        (["-name", "secp521r1"], .other),
    ])
    func aCurveIsKnownByItsName(arguments: [String], kind: PublicKey.Kind) throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let made = try tool.run(["ecparam", "-genkey", "-noout", "-out", tool.path("key.pem")] + arguments)
        try #require(made.isSuccess, "\(made.text)")
        let key = try PrivateKey(pem: tool.read("key.pem"))
        #expect(key.publicKey.kind == kind)
        #expect(try PublicKey(der: key.publicKey.der).kind == kind)
        if kind != .p256 { #expect(throws: CryptoError.self) { try key.signES256([1]) } }
    }

    @Test func anEncryptedKeyIsRefusedWithoutAsking() throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let key = try PrivateKey(generate: .p256)
        let made = try tool.run([
            "pkcs8", "-topk8", "-in", try tool.write(try key.pem(), as: "key.pem"), "-passout", "pass:secret",
            "-out", tool.path("encrypted.pem"),
        ])
        try #require(made.isSuccess, "\(made.text)")
        let encrypted = try tool.read("encrypted.pem")
        #expect(throws: CryptoError.self) { try PrivateKey(pem: encrypted) }
    }

    @Test func aPointOffTheCurveIsRefused() throws {
        let key = try PrivateKey(generate: .p256).publicKey
        for index in (key.der.count - 64)..<key.der.count {
            var der = key.der
            der[index] ^= 1
            #expect(throws: CryptoError.self) { try PublicKey(der: der) }
        }
        #expect(throws: CryptoError.self) { try PublicKey(der: key.der + [0]) }
        #expect(throws: CryptoError.self) { try PublicKey(der: key.der.dropLast()) }
        #expect(throws: CryptoError.self) { try PublicKey(der: []) }
        let middle = key.der.prefix(27) + [UInt8](repeating: 0, count: 64)
        #expect(throws: CryptoError.self) { try PublicKey(der: Array(middle)) }
    }

    @Test func aKeyThatWeWriteIsReadByAnotherProgram() throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        for algorithm in PrivateKey.Algorithm.allCases {
            let key = try PrivateKey(generate: algorithm)
            let answer = try tool.run(["pkey", "-in", try tool.write(try key.pem(), as: "key.pem"), "-check", "-noout"])
            #expect(answer.isSuccess, "\(answer.text)")
        }
    }
}
