import Pipeline
import PurchaseModel
import Storage

/// A purchase on its way into the ledger: what the pipeline hands over.
struct PurchaseWork: Sendable {
    static let app = AppID(checked: "game")
    static let realm = Realm(environment: .production, isTestSigned: false)

    let recording: Recording
    let evidence: EvidenceRow

    /// - Parameters:
    ///   - number: names the proof: no two alike.
    ///   - transactions: in it.
    ///   - customer: who shows it.
    ///   - proof: its bytes.
    ///   - moment: when it comes.
    init(_ number: Int, _ transactions: [Transaction], customer: Int, proof: [UInt8], at moment: Timestamp) {
        recording = Recording(
            app: Self.app,
            realm: Self.realm,
            transactions: transactions,
            customer: CustomerID(checked: "customer-\(customer)")
        )
        var name = [UInt8](repeating: 0, count: ProofDigest.byteCount)
        for index in 0..<8 { name[index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
        guard let digest = ProofDigest(name) else { preconditionFailure("32 bytes are a digest") }
        evidence = EvidenceRow(
            digest: digest,
            format: "jws_transaction",
            proof: proof,
            customer: recording.customer,
            receivedAt: moment,
            verdict: "genuine"
        )
    }

    /// Read once, decide each, write once, commit: as the recorder does it.
    static func record(_ part: some Collection<PurchaseWork> & Sendable, in store: any Store) async throws {
        try await store.write { transaction throws(StoreFailure) in
            var situation = try transaction.situation(around: part.map(\.recording))
            var events: [LedgerEvent] = []
            for item in part {
                let decision = decide(situation, item.recording, at: item.evidence.receivedAt)
                try transaction.apply(decision, evidence: item.evidence)
                situation.apply(decision)
                events += decision.events
            }
            try transaction.append(EventRows.rows(events))
        }
    }
}
