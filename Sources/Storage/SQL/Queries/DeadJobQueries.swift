import PurchaseModel

/// Forgets dead letters, and finds whether what they are about is still there.
struct DeadJobQueries {
    let connection: any SQLConnection

    private static let isKept = BulkLookup(by: [.bytes("name")], "SELECT 1 FROM submissions WHERE name = $1")
    /// By their state the planner would come upon all that are dead: hence the plus.
    private static let forget = BulkChange(deletingFrom: "jobs", by: [.text("id")], where: "id = $1 AND +state = 3")

    func kept(among ids: [SubmissionID]) throws(StoreFailure) -> Set<SubmissionID> {
        var kept: Set<SubmissionID> = []
        try connection.visit(Self.isKept, ids.map { [.bytes($0.bytes)] }) { place, _ in kept.insert(ids[place]) }
        return kept
    }

    func forget(_ ids: [JobID]) throws(StoreFailure) -> Int {
        // In one order, so that two servers that forget the same do not wait for each other.
        let keys: [[SQLValue]] = Set(ids).sorted().map { [.text($0.text)] }
        return try connection.change(Self.forget, keys).count { $0 }
    }
}
