import Pipeline
import PurchaseModel
import Storage
import Verification

/// The authorities that proofs are judged by.
enum CheckTrust {
    /// - Parameters:
    ///   - provided: what is trusted from the start.
    ///   - seen: what proofs came with.
    ///   - now: the moment to judge at.
    /// - Returns: one for each authority at fault, or one that says that there is none.
    static func findings(_ provided: [CertificateSighting], seen: [SeenCertificate], at now: Timestamp) -> [Finding] {
        let known = Set(provided.map(\.facts.sha256))
        let missing = seen.filter {
            $0.vouchedBy == Voucher.apple.word && $0.role != "leaf" && !known.contains($0.sha256)
        }
        let findings =
            CertificateWatch.ending(provided, at: now).map(ending)
            + provided.filter { $0.facts.notAfter <= now && $0.voucher != .apple }.map(ended) + missing.map(unknown)
        guard findings.isEmpty else { return findings }
        return [.ok("trust", "\(provided.count) authorities, none of which ends within 90 days")]
    }

    private static func moment(_ sighting: CertificateSighting) -> String {
        TransactionJSON.text(sighting.facts.notAfter) ?? "a moment that no calendar has"
    }

    private static func ending(_ sighting: CertificateSighting) -> Finding {
        .warn(
            "trust",
            of: sighting.facts.subject,
            "ends at \(moment(sighting))",
            fix: sighting.voucher == .apple
                ? "install a newer version of Assay in time" : "put its successor into trust.roots"
        )
    }

    private static func ended(_ sighting: CertificateSighting) -> Finding {
        .fail(
            "trust",
            of: sighting.facts.subject,
            "ended at \(moment(sighting))",
            cause: "What it signs from then on is refused.",
            fix: "put its successor into trust.roots"
        )
    }

    private static func unknown(_ certificate: SeenCertificate) -> Finding {
        .warn(
            "trust",
            of: certificate.subject,
            "signs for Apple, and is not among the authorities known here",
            cause: "Proofs that bring it are proved; iOS 6 receipts bring none.",
            fix: "put it into trust.certificates, or install a newer version of Assay"
        )
    }
}

extension Voucher {
    /// As the ledger writes it down.
    fileprivate var word: String { self == .apple ? "apple" : "added_root" }
}
