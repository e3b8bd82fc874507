import Crypto
import PurchaseModel

/// A leaf, the intermediate that issued it and a pinned root that issued that one; every rule but the dates has been
/// checked. Only ``ChainBuilder`` makes one, and shares it: it is asked for with every proof.
final class CertificateChain: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
    let voucher: Voucher
    /// The moments at which all three are valid. May be empty: then `validFrom` lies after `validUntil`.
    let validFrom: Timestamp
    let validUntil: Timestamp
    /// For the report.
    let certificates: [CertificateFacts]

    init(leaf: Certificate, intermediate: Certificate, root: TrustAnchors.Root) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root.certificate
        voucher = root.voucher
        let all = [leaf, intermediate, root.certificate]
        validFrom = Timestamp(milliseconds: all.map(\.fields.notBefore).max() ?? .max)
        validUntil = Timestamp(milliseconds: all.map(\.fields.notAfter).min() ?? .min)
        certificates = all.map(CertificateFacts.init)
    }

    func isValid(at moment: Timestamp) -> Bool {
        validFrom <= moment && moment <= validUntil
    }
}

extension CertificateChain {
    func notValid(at moment: Timestamp) -> Refusal {
        let which =
            [leaf, intermediate, root].first {
                moment.milliseconds < $0.fields.notBefore || $0.fields.notAfter < moment.milliseconds
            } ?? leaf
        return Refusal(.certificateNotValid, "\(which.fields.subject) is not valid at the moment of signing")
    }
}

extension [CertificateChain] {
    /// The chain that counts at a moment: one of Apple's if there is one.
    func valid(at moment: Timestamp) -> CertificateChain? {
        best { $0.isValid(at: moment) }
    }

    /// The same for whatever moment there is from one on.
    func valid(atOrAfter moment: Timestamp) -> CertificateChain? {
        best { Swift.max(moment, $0.validFrom) <= $0.validUntil }
    }

    private func best(_ isValid: (CertificateChain) -> Bool) -> CertificateChain? {
        let valid = filter(isValid)
        return valid.first { $0.voucher == .apple } ?? valid.first
    }
}

extension Certificate {
    /// Apple's have less than 1.5 kB. Reading one takes time with its length and the number of its extensions.
    private static let bytesMax = 3 * 1_024

    /// Reads a certificate that came with a proof.
    init(fromProof der: [UInt8]) throws(Refusal) {
        guard der.count <= Certificate.bytesMax else {
            throw Refusal(.certificateUnreadable, "a certificate of \(der.count) bytes")
        }
        do throws(CryptoError) {
            self = try Certificate(der: der)
        } catch {
            throw Refusal(.certificateUnreadable, "\(error)")
        }
    }

    /// Names itself as its issuer. Whether it did sign itself is another matter.
    var isSelfIssued: Bool { fields.issuerDER == fields.subjectDER }
}
