import Crypto
import TestSupport
import Testing

@Suite struct KeyTests {
    @Test(arguments: [
        (PrivateKey.Algorithm.p256, PublicKey.Kind.p256), (.p384, .p384), (.rsa1024, .rsa(bits: 1_024)),
        (.rsa2048, .rsa(bits: 2_048)),
    ])
    func aKeySurvivesItsTexts(algorithm: PrivateKey.Algorithm, kind: PublicKey.Kind) throws {
        let key = try PrivateKey(generate: algorithm)
        #expect(key.publicKey.kind == kind)
        let pem = try key.pem()
        #expect(pem.starts(with: "-----BEGIN PRIVATE KEY-----\n".utf8))
        let again = try PrivateKey(pem: pem)
        #expect(again.publicKey == key.publicKey)
        let shared = try PublicKey(der: key.publicKey.der)
        #expect(shared == key.publicKey)
        #expect(shared.kind == kind)
        let message = Array("message".utf8)
        if kind == .p256 {
            #expect(shared.isValidES256(signature: try again.signES256(message), message: message))
        } else if case .rsa = kind {
            for digest in [Digest.sha1, .sha256] {
                let signature = try again.signRSA(message, digest: digest)
                #expect(shared.isValidRSA(signature: signature, message: message, digest: digest))
            }
        }
    }
}
