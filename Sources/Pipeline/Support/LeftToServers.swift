extension Reconciliation {
    /// The kinds of jobs that whoever reconciles leaves to servers: what Apple is told of customers, and what people have asked
    /// of it. They stand in the ledger as they were at the copy, and consents that were withdrawn since are given in it. No
    /// plan waits for them.
    package static let leftToServers: Set = [ConsumptionAnswering.kind, SupportAsking.kind]
}
