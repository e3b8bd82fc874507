import PurchaseModel
import Storage

// Balances: what they are made of, and what was given and taken back.
extension LedgerCheck {
    /// What a transaction moved in a wallet.
    private struct Moved {
        var balance: Int64 = 0
        var uncollected: Int64 = 0

        mutating func add(_ posting: Posting) {
            balance &+= posting.change(of: .balance)
            uncollected &+= posting.change(of: .uncollected)
        }
    }

    /// - Returns: how many amounts that were given have postings.
    mutating func checkWallets(_ app: AppID) throws(StoreFailure) -> Int {
        let reader = reader
        var wallets = LedgerWalk { place throws(StoreFailure) in
            try reader.walkWallets(app: app, after: place, limit: Self.pageMax)
        }
        var postings = LedgerWalk { place throws(StoreFailure) in
            try reader.walkPostings(app: app, after: place, limit: Self.pageMax)
        }
        var found = 0
        while true {
            let wallet = try wallets.peek()
            let posting = try postings.peek()
            let key: WalletKey
            switch (wallet?.key, posting?.wallet) {
            case (nil, nil):
                findings.add(unreadable: wallets.takeUnreadable() + postings.takeUnreadable())
                return found
            case (let one?, let other?): key = other.precedes(one) ? other : one
            case (let one?, nil): key = one
            case (nil, let other?): key = other
            }
            let row = wallet?.key == key ? try wallets.pop() : nil
            found += try check(key, row, &postings)
        }
    }

    private mutating func check(
        _ key: WalletKey,
        _ wallet: Wallet?,
        _ postings: inout LedgerWalk<Posting>
    ) throws(StoreFailure) -> Int {
        var (last, sum): (Int64, Moved) = (0, Moved())
        var moved: [TransactionID: Moved] = [:]
        while let posting = try postings.peek(), posting.wallet == key {
            _ = try postings.pop()
            findings.postings += 1
            if posting.number != last + 1 {
                findings.add(.postingGap, .of(key), "the number after \(last) is \(posting.number)")
            }
            last = posting.number
            sum.add(posting)
            check(posting)
            if let transaction = posting.transaction { moved[transaction, default: Moved()].add(posting) }
        }
        guard let wallet else {
            findings.add(.walletMissing, .of(key), "there are postings and no wallet")
            return try check(moved, in: key)
        }
        findings.wallets += 1
        if wallet.postings != last {
            findings.add(.postingGap, .of(key), "\(wallet.postings) were made, and the last is number \(last)")
        }
        if wallet.balance != sum.balance {
            let what = "the balance is \(wallet.balance), the postings make \(sum.balance)"
            findings.add(.balanceDiffers, .of(key), what)
        }
        if wallet.uncollected != sum.uncollected {
            let what = "uncollected are \(wallet.uncollected), the postings make \(sum.uncollected)"
            findings.add(.balanceDiffers, .of(key), what)
        }
        return try check(moved, in: key)
    }

    private mutating func check(_ posting: Posting) {
        let isOfTransaction = [.purchase, .refund, .refundReversed].contains(posting.cause)
        let names: [LedgerViolation.Name] = .of(posting.wallet, posting.transaction)
        if posting.amount <= 0 || posting.debit == posting.credit {
            findings.add(.postingContradicts, names, "number \(posting.number) moves nothing between two accounts")
        }
        if isOfTransaction != (posting.transaction != nil) {
            let what = "number \(posting.number) is a \(posting.cause.rawValue)"
            findings.add(.postingContradicts, names, what + (isOfTransaction ? " of nothing" : " of a transaction"))
        }
    }

    /// - Returns: how many of them were given.
    private mutating func check(_ moved: [TransactionID: Moved], in wallet: WalletKey) throws(StoreFailure) -> Int {
        var found = 0
        let ids = moved.keys.sorted()
        for first in stride(from: 0, to: ids.count, by: Self.pageMax) {
            let keys = ids[first..<min(first + Self.pageMax, ids.count)].map { id in
                TransactionKey(app: wallet.app, realm: wallet.realm, id: id)
            }
            let given = try fulfilments(of: keys)
            for key in keys where !given.unreadable.contains(key) {
                guard let row = given[key], row.isGiven, row.customer == wallet.customer,
                    let amount = row.amounts.first(where: { $0.currency == wallet.currency })
                else {
                    try addUngiven(key, in: wallet)
                    continue
                }
                found += 1
                guard let sum = moved[key.id] else { continue }
                if sum.balance != amount.amount - amount.reversed || sum.uncollected != -amount.uncollected {
                    let what = """
                        given \(amount.amount), taken back \(amount.reversed), missing \(amount.uncollected); \
                        posted \(sum.balance) and \(-sum.uncollected) missing
                        """
                    findings.add(.amountsDiffer, .of(wallet, key.id), what)
                }
            }
        }
        return found
    }

    private mutating func addUngiven(_ key: TransactionKey, in wallet: WalletKey) throws(StoreFailure) {
        let recorded = try? reader.transactions(app: key.app, id: key.id)
        if let other = recorded?.first, recorded?.contains(where: { $0.realm == key.realm }) == false {
            let what = "the transaction is recorded for \(other.realm.environment.rawValue) only"
            findings.add(.wallCrossed, .of(wallet, key.id), what)
        } else {
            findings.add(.amountsDiffer, .of(wallet, key.id), "it was posted, and not given")
        }
    }

    /// Names what was given and not posted: each wallet is looked through for each, so only once it is known that there is
    /// some.
    mutating func findUnposted(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkFulfilments(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            for row in page where row.isGiven {
                guard let customer = row.customer else { continue }
                for amount in row.amounts {
                    let wallet = WalletKey(
                        app: app,
                        realm: row.transaction.realm,
                        customer: customer,
                        currency: amount.currency
                    )
                    let posted = try? reader.postings(wallet, of: row.transaction.id)
                    if posted?.isEmpty == true {
                        let names: [LedgerViolation.Name] = .of(wallet, row.transaction.id)
                        check.findings.add(.amountsDiffer, names, "it was given, and not posted")
                    }
                }
            }
        }
    }
}

extension Posting {
    /// What it adds to an account.
    func change(of account: WalletAccount) -> Int64 {
        (credit == account ? amount : 0) &- (debit == account ? amount : 0)
    }
}
