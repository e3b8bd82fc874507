import Encoding
import Pipeline
import PurchaseModel
import Storage
import Verification

/// What is told of certificates, as figures and lines.
extension Reporter {
    /// Shows when a certificate ends.
    func show(_ sighting: CertificateSighting) {
        show(
            sighting.role.rawValue,
            sighting.voucher == .apple ? "apple" : "added_root",
            sighting.facts.sha256,
            sighting.facts.notAfter
        )
    }

    func show(_ certificate: SeenCertificate) {
        show(certificate.role, certificate.vouchedBy, certificate.sha256, certificate.notAfter)
    }

    /// A proof came with a certificate that this ledger had not seen. One of an authority of Apple's that was not known is
    /// worth a look: what does not carry it, such as an iOS 6 receipt, cannot be proved without it.
    func report(new sighting: CertificateSighting) {
        let isUnknownAuthority = sighting.role != .leaf && sighting.voucher == .apple && !sighting.isProvided
        log.write(isUnknownAuthority ? .warning : .info, "certificate_new") { json in
            json.member("role", sighting.role.rawValue)
            json.member("provided", sighting.isProvided)
            write(sighting, into: &json)
        }
    }

    func report(ending sighting: CertificateSighting) {
        log.write(.warning, "certificate_ends") { json in
            json.member("role", sighting.role.rawValue)
            write(sighting, into: &json)
        }
    }

    private func write(_ sighting: CertificateSighting, into json: inout JSONObjectWriter) {
        json.member("subject", sighting.facts.subject)
        json.member("issuer", sighting.facts.issuer)
        json.member("serial", sighting.facts.serial)
        json.member("sha256", Hexadecimal.encode(sighting.facts.sha256))
        json.member("not_after", sighting.facts.notAfter)
    }

    private func show(_ role: String, _ vouchedBy: String, _ sha256: [UInt8], _ notAfter: Timestamp) {
        metrics.set(
            .certificateEnds,
            [
                .init(name: "role", value: role), .init(name: "vouched_by", value: vouchedBy),
                .init(name: "sha256", value: Hexadecimal.encode(sha256)),
            ],
            to: notAfter.milliseconds / 1_000
        )
    }
}
