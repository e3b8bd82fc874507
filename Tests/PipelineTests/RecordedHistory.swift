import Pipeline
import PurchaseModel
import Storage
import Testing

extension Recorder {
    /// Records a transaction as Apple's history of a customer has it, signed by the test authority.
    func recordHistory(_ transaction: Transaction, of app: AppPolicy, in realm: Realm, at now: Timestamp) async throws {
        var recording = Recording(app: app.id, realm: realm, transactions: [transaction], terms: app.terms)
        recording.source = .history
        let evidence = EvidenceRow(
            digest: try #require(ProofDigest([UInt8](repeating: 7, count: 32))),
            format: "jws_transaction",
            proof: [],
            customer: nil,
            receivedAt: now,
            verdict: "test_signed"
        )
        _ = try await record(recording, evidence: evidence)
    }
}
