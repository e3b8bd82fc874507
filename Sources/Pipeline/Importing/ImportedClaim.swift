import PurchaseModel
import Storage

/// Whose a transaction is, if it is recorded: its proof came with another row, or before the import.
struct ImportedClaim: Sendable {
    let id: TransactionID
    /// Everything but what was recorded.
    let template: Recording

    var key: TransactionKey { TransactionKey(app: template.app, realm: template.realm, id: id) }

    /// The same as if the customer presented what Apple signed of it.
    func recording(of transaction: Transaction) -> Recording {
        var recording = template
        recording.transactions = [transaction]
        return recording
    }
}

/// A number of which no row says on which side of the wall it is.
struct ImportedNumber: Sendable {
    let id: TransactionID
    /// Everything but where it was recorded, and what: its realm says nothing.
    let template: Recording

    /// Whose it is, on every side.
    var claims: [ImportedClaim] { Realm.known.map(claim) }

    private func claim(in realm: Realm) -> ImportedClaim {
        var template = template
        template.realm = realm
        return ImportedClaim(id: id, template: template)
    }
}

/// What must be known before the rows of a commit can be decided, one after the other.
struct ImportInquiry {
    private var recordings: [Recording] = []
    private var claims: [ImportedClaim] = []
    private var numbers: [ImportedNumber] = []

    init(_ rows: [ExaminedRow]) { for row in rows { add(row.finding) } }

    private mutating func add(_ finding: ExaminedRow.Finding) {
        switch finding {
        case .record(let recording, _, _, _): recordings.append(recording)
        case .claim(let claim, let otherwise):
            claims.append(claim)
            add(otherwise)
        case .ask(_, let number?, _, _): numbers.append(number)
        case .ask, .over: break
        }
    }

    /// Asks the ledger, of claims as if their customers presented what is recorded, or what another row brings.
    func answered(by reader: any StoreReader) throws(StoreFailure) -> Situation {
        var claims = claims
        let brought = numbers.isEmpty ? [] : Set(recordings.flatMap(\.keys))
        for number in numbers {
            let known = try reader.transactions(app: number.template.app, id: number.id).map(\.key)
            claims += number.claims.filter { known.contains($0.key) || brought.contains($0.key) }
        }
        guard !claims.isEmpty else { return try reader.situation(around: recordings) }
        let keys = Set(claims.map(\.key))
        var claimed: [TransactionKey: Transaction] = [:]
        for known in try reader.transactions(Array(keys)) { claimed[known.key] = known.transaction }
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys)
            where claimed[key] == nil && keys.contains(key) {
                claimed[key] = transaction
            }
        }
        let presented = claims.compactMap { claim in claimed[claim.key].map { claim.recording(of: $0) } }
        return try reader.situation(around: recordings + presented)
    }
}
