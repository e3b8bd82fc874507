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
    /// Whether a person has said whose it is, or who has it bought it anew: then no account token from before says otherwise.
    package internal(set) var isSettled: Bool
    /// The chain that Apple goes on with in its place; see ``Transaction/previousOriginalID``.
    package internal(set) var successor: TransactionID?
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds. The first one follows that
    /// of the chain's ``Vacancy``, if there was one.
    package internal(set) var version: Int64

    package init(
        chain: ChainKey,
        customer: CustomerID,
        sharers: [CustomerID] = [],
        since: Timestamp,
        previous: CustomerID? = nil,
        isSettled: Bool = false,
        successor: TransactionID? = nil,
        version: Int64 = 1
    ) {
        self.chain = chain
        self.customer = customer
        self.sharers = sharers
        self.since = since
        self.previous = previous
        self.isSettled = isSettled
        self.successor = successor
        self.version = version
    }

    /// The same owner with others who may use it.
    package func with(sharers customers: [CustomerID]) -> Owner {
        var shared = self
        shared.sharers = customers
        return shared
    }

    package func mayUse(_ customer: CustomerID) -> Bool { self.customer == customer || sharers.contains(customer) }
}

/// A chain of which something waits for whoever comes to have it.
///
/// It is a row where the ``Owner`` will stand: whoever leaves something there and whoever claims the chain write the same
/// row, so that of two who do it at the same time one is told, and sees the other.
package struct Vacancy: Hashable, Sendable {
    package let chain: ChainKey
    /// The chain that Apple goes on with in its place: whoever comes to have this one has that one too.
    package internal(set) var successor: TransactionID?
    /// Counts what was left there.
    package internal(set) var version: Int64

    package init(chain: ChainKey, successor: TransactionID? = nil, version: Int64 = 1) {
        self.chain = chain
        self.successor = successor
        self.version = version
    }
}

/// Whose an account token is.
package struct TokenOwner: Hashable, Sendable {
    package let key: TokenKey
    /// `nil` while nobody is known by it and something waits for him: see ``Vacancy``.
    package let customer: CustomerID?
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package init(key: TokenKey, customer: CustomerID?, version: Int64 = 1) {
        self.key = key
        self.customer = customer
        self.version = version
    }
}
