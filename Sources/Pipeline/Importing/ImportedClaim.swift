import PurchaseModel
import Storage

/// Whose a transaction is, if it is recorded: its proof came with another row, or before the import.
struct ImportedClaim: Sendable {
    let id: TransactionID
    /// Everything but what was recorded.
    let template: Recording

    var key: TransactionKey { TransactionKey(app: template.app, realm: template.realm, id: id) }

    /// The same as if the customer presented what Apple signed of it.
    func recording(of known: RecordedTransaction) -> Recording {
        var recording = template
        recording.transactions = [known.transaction]
        return recording
    }
}

/// What must be known before the rows of a commit can be decided, one after the other.
struct ImportInquiry {
    private struct Chain {
        var template: Recording
        var products: [ProductID: Transaction] = [:]
        var customers: Set<CustomerID> = []
    }

    private var recordings: [Recording] = []
    private var claims: [ImportedClaim] = []

    init(_ rows: [ExaminedRow]) { for row in rows { add(row.finding) } }

    private mutating func add(_ finding: ExaminedRow.Finding) {
        switch finding {
        case .record(let recording, _, _, _): recordings.append(recording)
        case .claim(let claim, _): claims.append(claim)
        case .ask, .over: break
        }
    }

    /// Asks the ledger.
    func answered(by reader: any StoreReader) throws(StoreFailure) -> Situation {
        // Without such rows each proof is whoever's brings it, and says all about it.
        guard !claims.isEmpty || recordings.contains(where: { $0.claimed != nil }) else {
            return try reader.situation(around: recordings)
        }
        var recordings = recordings
        let found = claims.isEmpty ? [] : try reader.transactions(claims.map(\.key))
        let recorded = Dictionary(found.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for claim in claims { if let known = recorded[claim.key] { recordings.append(claim.recording(of: known)) } }
        var situation = try reader.situation(around: recordings)
        // One row brings a transaction, another says whose it is: what touches that customer is known of neither alone.
        try reader.answer(Inquiry(meetings(of: recordings, in: situation), after: situation), in: &situation)
        return situation
    }

    /// What each customer may come to have by what several rows say of one chain.
    private func meetings(of recordings: [Recording], in situation: Situation) -> [Recording] {
        var chains: [ChainKey: Chain] = [:]
        var places: [TransactionKey: Set<ChainKey>] = [:]
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                let chain = situation.fulfilment(of: key)?.chain ?? recording.chain(of: transaction)
                let signed = transaction.accountToken.flatMap {
                    situation.customer(of: TokenKey(app: recording.app, token: $0))
                }
                places[key, default: []].insert(chain)
                chains[chain, default: Chain(template: recording)].products[transaction.product] = transaction
                let isClaimed = recording.claimed == nil || recording.claimed == transaction.id
                let customers = [signed, isClaimed ? recording.customer : nil].compactMap(\.self)
                chains[chain]?.customers.formUnion(customers)
            }
        }
        for claim in claims {
            guard let customer = claim.template.customer else { continue }
            for chain in places[claim.key] ?? [] { chains[chain]?.customers.insert(customer) }
        }
        return chains.values.flatMap { chain in
            chain.customers.map { customer in
                var meeting = chain.template
                meeting.transactions = Array(chain.products.values)
                meeting.renewals = []
                meeting.customer = customer
                return meeting
            }
        }
    }
}
