/// What a customer has of one currency.
package struct Wallet: Hashable, Sendable {
    package let key: WalletKey
    /// Below zero only after a refund of what was used, where the app allows it.
    package internal(set) var balance: Int64
    /// What refunds would have taken back, had it been there; never above zero.
    package internal(set) var uncollected: Int64
    /// How many postings made it what it is: the number of the last one.
    package internal(set) var postings: Int64
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds; 0 before the first.
    package internal(set) var version: Int64

    package init(
        _ key: WalletKey,
        balance: Int64 = 0,
        uncollected: Int64 = 0,
        postings: Int64 = 0,
        version: Int64 = 0
    ) {
        self.key = key
        self.balance = balance
        self.uncollected = uncollected
        self.postings = postings
        self.version = version
    }

    /// Moves an amount between two accounts of this wallet.
    ///
    /// - Returns: `nil` when a sum would leave the range of numbers; then nothing was moved.
    mutating func post(
        _ amount: Int64,
        from debit: WalletAccount,
        to credit: WalletAccount,
        cause: PostingCause,
        transaction: TransactionID?,
        at now: Timestamp
    ) -> Posting? {
        precondition(amount > 0, "a posting moves something")
        var moved = self
        guard moved.add(-amount, to: debit), moved.add(amount, to: credit) else { return nil }
        moved.postings += 1
        self = moved
        return Posting(
            wallet: key,
            number: postings,
            amount: amount,
            debit: debit,
            credit: credit,
            cause: cause,
            transaction: transaction,
            at: now
        )
    }

    private mutating func add(_ amount: Int64, to account: WalletAccount) -> Bool {
        let before: Int64
        switch account {
        case .balance: before = balance
        case .uncollected: before = uncollected
        case .issued, .used: return true
        }
        let (sum, overflows) = before.addingReportingOverflow(amount)
        guard !overflows else { return false }
        if account == .balance { balance = sum } else { uncollected = sum }
        return true
    }
}

/// One movement in a wallet: the same amount leaves one account and enters another, so that all of them together are
/// always zero. Never changed and never deleted.
package struct Posting: Hashable, Sendable {
    package let wallet: WalletKey
    /// From 1, without a gap, in each wallet.
    package let number: Int64
    /// Above zero.
    package let amount: Int64
    package let debit: WalletAccount
    package let credit: WalletAccount
    package let cause: PostingCause
    package let transaction: TransactionID?
    package let at: Timestamp

    package init(
        wallet: WalletKey,
        number: Int64,
        amount: Int64,
        debit: WalletAccount,
        credit: WalletAccount,
        cause: PostingCause,
        transaction: TransactionID?,
        at: Timestamp
    ) {
        self.wallet = wallet
        self.number = number
        self.amount = amount
        self.debit = debit
        self.credit = credit
        self.cause = cause
        self.transaction = transaction
        self.at = at
    }
}

package enum WalletAccount: String, Hashable, Sendable, CaseIterable {
    /// The shop's side: what it has given in all, below zero.
    case issued
    case balance
    /// What the customer has used.
    case used
    /// What refunds could not take back.
    case uncollected
}

package enum PostingCause: String, Hashable, Sendable, CaseIterable {
    case purchase
    case refund
    case refundReversed = "refund_reversed"
    /// The customer used it.
    case use
    /// A person gave or took it.
    case adjustment
}
