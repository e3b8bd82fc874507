import PurchaseModel

/// Writes and finds whose chains are. Where nobody is known the customer's name is empty, which no name is.
struct OwnerQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .integer("original_id"), .integer("realm")]
    private static let changing: [BulkColumn] = [
        .text("customer"), .integer("since"), .text("previous"), .integer("settled"), .integer("successor"),
    ]
    private static let insert = BulkInsert(
        into: "owners",
        key + [.integer("version")] + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "owners", key: key, changing)
    private static let insertSharer = BulkInsert(
        into: "sharers",
        key + [.text("customer"), .integer("place")],
        key: key.map(\.name) + ["customer"]
    )
    private static let removeSharers = Query(
        "DELETE FROM sharers WHERE app = $1 AND original_id = $2 AND realm = $3"
    )
    private static let find = BulkLookup(
        by: key,
        """
        SELECT version, customer, since, previous, settled, successor FROM owners
        WHERE app = $1 AND original_id = $2 AND realm = $3
        """
    )
    private static let findSharers = BulkLookup(
        by: key,
        "SELECT customer FROM sharers WHERE app = $1 AND original_id = $2 AND realm = $3 ORDER BY place"
    )
    private static let list = Query(
        """
        SELECT original_id, realm FROM owners WHERE app = $1 AND customer = $2
        UNION SELECT original_id, realm FROM sharers WHERE app = $1 AND customer = $2
        ORDER BY 1, 2 LIMIT \(ChainKey.listedMax)
        """
    )

    /// Goes through hers, and no further than to the first: a limit is what keeps PostgreSQL from going by the side of the
    /// wall instead.
    static let findBought = Query(by: "owners_by_customer") { index in
        """
        SELECT 1 FROM (
            SELECT realm, previous FROM owners \(index) WHERE app = $1 AND customer = $2 LIMIT \(ChainKey.listedMax)
        ) AS hers WHERE realm = $3 AND previous IS NULL LIMIT 1
        """
    }

    func write(_ change: RowChange<Owner>) throws(StoreFailure) {
        let owner = change.row
        let key = try key(of: owner.chain)
        let changing: [SQLValue] = [
            .text(owner.customer.text), .integer(owner.since.milliseconds), .optional(owner.previous?.text),
            .integer(owner.isSettled ? 1 : 0), .optional(owner.successor?.number),
        ]
        switch change {
        case .insert where owner.version == 1:
            try connection.insert([key, [.integer(owner.version)], changing], by: Self.insert)
        case .insert:
            try connection.update(key + [.integer(owner.version - 1)] + changing, by: Self.update)
        case .update:
            try connection.update(key + [.integer(owner.version - 1)] + changing, by: Self.update)
            try connection.run(Self.removeSharers, key)
        }
        for (place, sharer) in owner.sharers.enumerated() {
            try connection.insert(key + [.text(sharer.text), .integer(Int64(place))], by: Self.insertSharer)
        }
    }

    func write(_ change: RowChange<Vacancy>) throws(StoreFailure) {
        let key = try key(of: change.row.chain)
        let nobody: [SQLValue] = [
            .text(""), .integer(0), .null, .integer(0), .optional(change.row.successor?.number),
        ]
        switch change {
        case .insert(let vacancy):
            try connection.insert(key + [.integer(vacancy.version)] + nobody, by: Self.insert)
        case .update(let vacancy):
            try connection.update(key + [.integer(vacancy.version - 1)] + nobody, by: Self.update)
        }
    }

    private func key(of chain: ChainKey) throws(StoreFailure) -> [SQLValue] {
        [
            .integer(try apps.codeForWriting(chain.app)), .integer(chain.original.number),
            .integer(try RealmCode.number(of: chain.realm)),
        ]
    }

    func find(_ chains: [ChainKey]) throws(StoreFailure) -> (owners: [Owner], vacancies: [Vacancy]) {
        let (asked, values) = try apps.keys(chains, app: \.app) { code, chain in
            [code, .integer(chain.original.number), .integer(RealmCode.wanted(chain.realm))]
        }
        var (owners, vacancies): ([(place: Int, row: Owner)], [Vacancy]) = ([], [])
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            let version = row.integer(0)
            let successor = row.optionalInteger(5).flatMap(TransactionID.init(number:))
            if row.text(1).isEmpty {
                vacancies.append(Vacancy(chain: asked[place], successor: successor, version: version))
                return
            }
            guard let customer: CustomerID = try row.identifier(1) else { throw SQLiteResult.unreadableRow }
            let owner = Owner(
                chain: asked[place],
                customer: customer,
                since: Timestamp(milliseconds: row.integer(2)),
                previous: try row.identifier(3),
                isSettled: row.integer(4) != 0,
                successor: successor,
                version: version
            )
            owners.append((place, owner))
        }
        // After the owners, whose versions tell when somebody else comes to share.
        var sharers: [Int: [CustomerID]] = [:]
        if !owners.isEmpty {
            try connection.visit(Self.findSharers, values) { place, row throws(StoreFailure) in
                guard let customer: CustomerID = try row.identifier(0) else { throw SQLiteResult.unreadableRow }
                sharers[place, default: []].append(customer)
            }
        }
        let shared = owners.map { owner in
            owner.row.with(sharers: sharers[owner.place] ?? [])
        }
        return (shared, vacancies)
    }

    func hasBought(_ customer: CustomerID, app: AppID, realm: Realm) throws(StoreFailure) -> Bool {
        guard let code = try apps.code(of: app) else { return false }
        let values: [SQLValue] = [.integer(code), .text(customer.text), .integer(RealmCode.wanted(realm))]
        return try connection.row(Self.findBought, values) { _ in true } ?? false
    }

    func chains(app: AppID, customer: CustomerID) throws(StoreFailure) -> [ChainKey] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.list, [.integer(code), .text(customer.text)]) { row throws(StoreFailure) in
            guard let original = TransactionID(number: row.integer(0)),
                let realm = RealmCode(number: row.integer(1)).realm
            else { throw SQLiteResult.unreadableRow }
            return ChainKey(app: app, realm: realm, original: original)
        }
    }
}
