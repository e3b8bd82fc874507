import PurchaseModel

/// What time it is for leases and due moments: the one place that says so.
///
/// One process writes to this database, so its own clock will do. Where several write, it is the database's.
struct LeaseTime {
    let connection: any SQLConnection

    func now(_ callers: Timestamp) throws(StoreFailure) -> Timestamp { callers }

    func terms(_ callers: LeaseTerms) throws(StoreFailure) -> LeaseTerms {
        LeaseTerms(owner: callers.owner, duration: callers.duration, now: try now(callers.now))
    }
}
