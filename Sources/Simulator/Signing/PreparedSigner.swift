package import Crypto
import Encoding

/// Signs many payloads with one chain, whose header is encoded and hashed once.
///
/// The certificates are four fifths of a signed text and the same in all of them: see ``JWSSigner`` for one text alone.
package struct PreparedSigner: Sendable {
    private let key: PrivateKey
    /// The header's segment and the dot after it.
    private let head: [UInt8]
    private let hashed: DigestPrefix

    package init(_ chain: SigningChain) throws(CryptoError) {
        guard chain.key.publicKey.kind == .p256 else { throw .unsupported("ES256 needs a key on P-256") }
        key = chain.key
        let head = JWSSigner.text(JWSSigner(chain).header.json) + [UInt8(ascii: ".")]
        hashed = DigestPrefix(.sha256, of: head.span)
        self.head = head
    }

    package func sign(_ payload: Payload) throws(CryptoError) -> String {
        let body = JWSSigner.text(payload.json)
        let signature = JWSSigner.text(try key.signES256(digest: hashed.hash(appending: body.span)))
        var text: [UInt8] = []
        text.reserveCapacity(head.count + body.count + 1 + signature.count)
        text += head
        text += body
        text.append(UInt8(ascii: "."))
        text += signature
        return String(decoding: text, as: UTF8.self)
    }
}
