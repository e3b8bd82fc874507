import Crypto

/// Reads the certificates that come with proofs, and reads none twice: OpenSSL takes a quarter of a millisecond for
/// one, and most proofs bring the same.
final class CertificateShelf: Sendable {
    private let anchors: TrustAnchors
    private let read = ChainCache<Certificate> { _ in true }

    init(_ anchors: TrustAnchors) {
        self.anchors = anchors
    }

    /// The certificate that the DER is; reading it trusts nobody.
    func certificate(_ der: ArraySlice<UInt8>) throws(Refusal) -> Certificate {
        if let known = anchors.certificate(equalTo: der) { return known }
        return try read.answer(for: der) { () throws(Refusal) in try Certificate(fromProof: Array(der)) }
    }
}
