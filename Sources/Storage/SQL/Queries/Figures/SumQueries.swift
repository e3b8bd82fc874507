import PurchaseModel

/// Adds to figures over time, and adds them up.
struct SumQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    /// What stands in rows for no side of the wall.
    static let noRealm: Int64 = -1

    private static let key: [BulkColumn] = [
        .integer("app"), .integer("realm"), .text("measure"), .integer("day"), .text("product"), .text("storefront"),
        .text("currency"), .integer("step"), .integer("slot"),
    ]
    private static let insert = BulkInsert(
        into: "figures",
        key + [.integer("amount")],
        key: key.map(\.name),
        on: .updates("amount = figures.amount + excluded.amount")
    )
    private static let list = Query(
        """
        SELECT CASE WHEN $6 = 1 THEN day ELSE 0 END, CASE WHEN $7 = 1 THEN product ELSE '' END,
            CASE WHEN $8 = 1 THEN storefront ELSE '' END, currency, step, CAST(sum(amount) AS BIGINT)
        FROM figures WHERE app = $1 AND realm = $2 AND measure = $3 AND day BETWEEN $4 AND $5
        GROUP BY 1, 2, 3, currency, step HAVING sum(amount) <> 0
        ORDER BY 1, 2, 3, currency, step LIMIT \(FigureRow.listedMax)
        """
    )
    private static let findDue = Query("SELECT 1 FROM figures_due WHERE app = $1")
    private static let deleteDue = Query("DELETE FROM figures_due WHERE app = $1")
    private static let findCorrections = Query("SELECT figure_corrections FROM apps WHERE code = $1")
    private static let noteCorrection = Query(
        "UPDATE apps SET figure_corrections = figure_corrections + 1 WHERE code = $1 AND figure_corrections = $2"
    )

    /// In the order of the key: two writers that share a slot cannot wait for each other.
    func add(_ sums: FigureSums) throws(StoreFailure) {
        for (key, amount) in sums.values {
            let values: [SQLValue] = [
                .integer(try apps.codeForWriting(key.app)), .integer(try Self.code(of: key.realm)),
                .text(key.measure.rawValue), .integer(key.day.number), .text(key.product?.text ?? ""),
                .text(key.storefront), .text(key.currency), .integer(key.step), .integer(connection.figureSlot),
                .integer(amount),
            ]
            try connection.insert(values, by: Self.insert)
        }
    }

    func list(_ question: FigureQuestion) throws(StoreFailure) -> [FigureRow] {
        guard let code = try apps.code(of: question.app) else { return [] }
        func flag(_ dimension: FigureQuestion.Dimension) -> SQLValue {
            .integer(question.by.contains(dimension) ? 1 : 0)
        }
        let values: [SQLValue] = [
            .integer(code), .integer(question.realm.map(RealmCode.wanted) ?? Self.noRealm),
            .text(question.measure.rawValue), .integer(question.days.lowerBound.number),
            .integer(question.days.upperBound.number), flag(.day), flag(.product), flag(.storefront),
        ]
        return try connection.rows(Self.list, values) { row throws(StoreFailure) in
            FigureRow(
                day: question.by.contains(.day) ? DayOfTime(number: row.integer(0)) : nil,
                product: try Self.product(row.text(1)),
                storefront: row.text(2),
                currency: row.text(3),
                step: row.integer(4),
                amount: row.integer(5)
            )
        }
    }

    func areDue(app: AppID) throws(StoreFailure) -> Bool {
        guard let code = try apps.code(of: app) else { return false }
        return try connection.row(Self.findDue, [.integer(code)]) { _ in true } ?? false
    }

    func corrections(app: AppID) throws(StoreFailure) -> Int64 {
        guard let code = try apps.code(of: app) else { return 0 }
        return try connection.row(Self.findCorrections, [.integer(code)]) { $0.integer(0) } ?? 0
    }

    /// Counts a correction on from those that were read.
    ///
    /// - Returns: false when there has been another since.
    func noteCorrection(_ app: AppID, after corrections: Int64) throws(StoreFailure) -> Bool {
        let values: [SQLValue] = [.integer(try apps.codeForWriting(app)), .integer(corrections)]
        return try connection.run(Self.noteCorrection, values) == 1
    }

    func noteCounted(_ app: AppID) throws(StoreFailure) {
        guard let code = try apps.code(of: app), try areDue(app: app) else { return }
        try connection.run(Self.deleteDue, [.integer(code)])
    }

    /// Empty where it is not counted by.
    static func product(_ text: String) throws(StoreFailure) -> ProductID? {
        if text.isEmpty { return nil }
        guard let product = ProductID(text) else { throw SQLiteResult.unreadableRow }
        return product
    }

    private static func code(of realm: Realm?) throws(StoreFailure) -> Int64 {
        try realm.map { realm throws(StoreFailure) in try RealmCode.number(of: realm) } ?? noRealm
    }
}
