/// Whose a chain is.
package struct Owner: Hashable, Sendable {
    package let chain: ChainKey
    package internal(set) var customer: CustomerID
    /// Who may use it beside the owner, where the app lets customers share.
    package internal(set) var sharers: [CustomerID]
    /// Since when it is this customer's.
    package internal(set) var since: Timestamp
    /// Whose it was before: what undoing the last transfer would bring back.
    package internal(set) var previous: CustomerID?
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package init(
        chain: ChainKey,
        customer: CustomerID,
        sharers: [CustomerID] = [],
        since: Timestamp,
        previous: CustomerID? = nil,
        version: Int64 = 1
    ) {
        self.chain = chain
        self.customer = customer
        self.sharers = sharers
        self.since = since
        self.previous = previous
        self.version = version
    }

    package func mayUse(_ customer: CustomerID) -> Bool { self.customer == customer || sharers.contains(customer) }
}
