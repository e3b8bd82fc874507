import PurchaseModel

/// Writes and finds balances, and what they are made of.
struct WalletQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [
        .integer("app"), .text("customer"), .integer("realm"), .text("currency"),
    ]
    private static let changing: [BulkColumn] = [
        .integer("balance"), .integer("uncollected"), .integer("postings"),
    ]
    private static let insert = BulkInsert(
        into: "wallets",
        key + [.integer("version")] + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "wallets", key: key, changing)
    private static let insertPosting = BulkInsert(
        into: "postings",
        key + [
            .integer("number"), .integer("amount"), .text("debit"), .text("credit"), .text("cause"),
            .integer("transaction_id"), .integer("posted_at"),
        ],
        key: key.map(\.name) + ["number"]
    )
    private static let find = BulkLookup(
        by: key,
        """
        SELECT version, balance, uncollected, postings FROM wallets
        WHERE app = $1 AND customer = $2 AND realm = $3 AND currency = $4
        """
    )
    private static let list = Query(
        """
        SELECT version, balance, uncollected, postings, realm, currency FROM wallets WHERE app = $1 AND customer = $2
        ORDER BY realm, currency LIMIT \(Wallet.listedMax)
        """
    )
    /// What ``readPosting(_:of:from:)`` expects.
    static let posting = "number, amount, debit, credit, cause, transaction_id, posted_at"
    private static let listPostings = Query(
        """
        SELECT \(posting) FROM postings
        WHERE app = $1 AND customer = $2 AND realm = $3 AND currency = $4 AND number < $5
        ORDER BY number DESC LIMIT $6
        """
    )
    private static let listPostingsOfTransaction = Query(
        """
        SELECT \(posting) FROM postings
        WHERE app = $1 AND customer = $2 AND realm = $3 AND currency = $4 AND transaction_id = $5 ORDER BY number
        """
    )

    func write(_ wallet: Wallet) throws(StoreFailure) {
        let key = try values(of: wallet.key)
        let changing: [SQLValue] = [
            .integer(wallet.balance), .integer(wallet.uncollected), .integer(wallet.postings),
        ]
        if wallet.version == 1 {
            try connection.insert(key + [.integer(1)] + changing, by: Self.insert)
        } else {
            try connection.update(key + [.integer(wallet.version - 1)] + changing, by: Self.update)
        }
    }

    func write(_ posting: Posting) throws(StoreFailure) {
        let values: [SQLValue] = [
            .integer(posting.number), .integer(posting.amount), .text(posting.debit.rawValue),
            .text(posting.credit.rawValue), .text(posting.cause.rawValue), .optional(posting.transaction?.number),
            .integer(posting.at.milliseconds),
        ]
        try connection.insert(try self.values(of: posting.wallet) + values, by: Self.insertPosting)
    }

    func find(_ keys: [WalletKey]) throws(StoreFailure) -> [Wallet] {
        let (asked, values) = try apps.keys(keys, app: \.app) { code, key in
            [code, .text(key.customer.text), .integer(RealmCode.wanted(key.realm)), .text(key.currency.text)]
        }
        var found: [Wallet] = []
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            found.append(Self.read(row, asked[place]))
        }
        return found
    }

    func list(app: AppID, customer: CustomerID) throws(StoreFailure) -> [Wallet] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.list, [.integer(code), .text(customer.text)]) { row throws(StoreFailure) in
            guard let realm = RealmCode(number: row.integer(4)).realm,
                let currency: CurrencyID = try row.identifier(5)
            else { throw SQLiteResult.unreadableRow }
            return Self.read(row, WalletKey(app: app, realm: realm, customer: customer, currency: currency))
        }
    }

    func postings(_ wallet: WalletKey, before number: Int64?, limit: Int) throws(StoreFailure) -> [Posting] {
        guard let code = try apps.code(of: wallet.app) else { return [] }
        let limit = min(max(limit, 1), Wallet.postingsMax)
        let values: [SQLValue] = [
            .integer(code), .text(wallet.customer.text), .integer(RealmCode.wanted(wallet.realm)),
            .text(wallet.currency.text), .integer(number ?? .max), .integer(Int64(limit)),
        ]
        return try connection.rows(Self.listPostings, values) { row throws(StoreFailure) in
            try Self.readPosting(row, of: wallet)
        }
    }

    func postings(_ wallet: WalletKey, of transaction: TransactionID) throws(StoreFailure) -> [Posting] {
        guard let code = try apps.code(of: wallet.app) else { return [] }
        let values: [SQLValue] = [
            .integer(code), .text(wallet.customer.text), .integer(RealmCode.wanted(wallet.realm)),
            .text(wallet.currency.text), .integer(transaction.number),
        ]
        return try connection.rows(Self.listPostingsOfTransaction, values) { row throws(StoreFailure) in
            try Self.readPosting(row, of: wallet)
        }
    }

    /// Reads a row of ``posting``, which begins at a column.
    static func readPosting(
        _ row: SQLRow,
        of wallet: WalletKey,
        from first: Int32 = 0
    ) throws(StoreFailure) -> Posting {
        guard let debit: WalletAccount = try row.word(first + 2),
            let credit: WalletAccount = try row.word(first + 3), let cause: PostingCause = try row.word(first + 4)
        else { throw SQLiteResult.unreadableRow }
        return Posting(
            wallet: wallet,
            number: row.integer(first),
            amount: row.integer(first + 1),
            debit: debit,
            credit: credit,
            cause: cause,
            transaction: row.optionalInteger(first + 5).flatMap { TransactionID(number: $0) },
            at: Timestamp(milliseconds: row.integer(first + 6))
        )
    }

    private func values(of key: WalletKey) throws(StoreFailure) -> [SQLValue] {
        [
            .integer(try apps.codeForWriting(key.app)), .text(key.customer.text),
            .integer(try RealmCode.number(of: key.realm)), .text(key.currency.text),
        ]
    }

    private static func read(_ row: SQLRow, _ key: WalletKey) -> Wallet {
        Wallet(
            key,
            balance: row.integer(1),
            uncollected: row.integer(2),
            postings: row.integer(3),
            version: row.integer(0)
        )
    }
}
