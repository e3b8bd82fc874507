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

    /// A renewal of a customer who has bought nothing else.
    ///
    /// - Parameters:
    ///   - number: of which all its names are made; they lie anywhere among those of other numbers.
    ///   - samples: where its proof is from.
    ///   - proof: another one.
    init(renewal number: Int, _ samples: Samples, proof: [UInt8]? = nil) {
        var renewal = Samples.renewal(number)
        // All of one day, however many there are.
        let age = Duration.seconds(number % 86_400)
        renewal.purchasedAt = Samples.moment.advanced(by: .zero - age)
        renewal.expiresAt = Samples.moment.advanced(by: .seconds(30 * 86_400) - age)
        self.init(
            number,
            [renewal],
            customer: Int(Samples.scattered(number + Self.customersBegin, 0).number),
            proof: proof ?? samples.tokens[number % samples.tokens.count],
            at: Samples.moment
        )
    }

    /// Beyond all purchases' numbers.
    private static let customersBegin = 1 << 40

    /// Read once, decide each, write once, commit: as the recorder does it.
    static func record(_ part: some Collection<PurchaseWork> & Sendable, in store: any Store) async throws {
        try await store.write { transaction throws(StoreFailure) in
            var situation = try transaction.situation(around: part.map(\.recording))
            var events: [LedgerEvent] = []
            situation.asked = Inquiry()
            for (place, item) in part.enumerated() {
                let decision = decide(situation, item.recording, ownToken: { _ in nil }, at: item.evidence.receivedAt)
                try transaction.apply(decision, evidence: item.evidence)
                if place + 1 < part.count { situation.apply(decision) }
                events += decision.events
            }
            try transaction.append(EventRows.rows(events))
        }
    }
}
