import Crypto
import PurchaseModel
import Storage
import Verification

// What was proved, as the rows that it becomes.
extension Verified<Proof> {
    /// Its side of the wall; `nil` when it does not say which store it is from.
    var realm: Realm? {
        fact.claims.environment.map { Realm(environment: $0, isTestSigned: provenance.vouchedBy.isTest) }
    }

    /// - Parameters:
    ///   - app: whose it is.
    ///   - realm: its side of the wall.
    ///   - renewals: what Apple said beside it of what comes next.
    /// - Returns: what is to be recorded, without who brought it.
    func recording(for app: AppPolicy, in realm: Realm, _ renewals: [Renewal] = []) -> Recording {
        Recording(
            app: app.id,
            realm: realm,
            transactions: fact.transactions,
            renewals: fact.renewals + renewals,
            terms: app.terms
        )
    }

    /// - Parameters:
    ///   - digest: of its bytes, where somebody has made it already.
    ///   - customer: who brought it; `nil` when nobody did.
    ///   - now: when it came.
    /// - Returns: the row that keeps it.
    func evidence(_ digest: ProofDigest? = nil, from customer: CustomerID? = nil, at now: Timestamp) -> EvidenceRow {
        EvidenceRow(
            digest: digest ?? ProofDigest(of: fact.bytes),
            format: fact.format.rawValue,
            proof: fact.bytes,
            customer: customer,
            receivedAt: now,
            verdict: verdict.rawValue
        )
    }
}

extension ProofDigest {
    init(of bytes: [UInt8]) {
        guard let digest = ProofDigest(Digest.sha256(bytes)) else { preconditionFailure("a SHA-256 has 32 bytes") }
        self = digest
    }
}
