import PurchaseModel

/// Writes and finds how far sources of old purchases were read.
struct ImportQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.bytes("id")]
    private static let fixed: [BulkColumn] = [.integer("app")]
    private static let changing: [BulkColumn] = [
        .integer("updated_at"), .integer("is_done"), .integer("place"), .integer("line"), .integer("recorded"),
        .integer("known"), .integer("asked"), .integer("without_purchase"), .integer("refused"), .integer("invalid"),
        .integer("report_bytes"), .bytes("report_tail"), .integer("without_customer"), .integer("started_at"),
        .integer("other_store"),
    ]
    private static let insert = BulkInsert(
        into: "imports",
        key + [.integer("version")] + fixed + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "imports", key: key, changing)
    private static let find = Query(
        """
        SELECT \(BulkColumn.names(changing)), imports.version, apps.name
        FROM imports JOIN apps ON apps.code = imports.app WHERE imports.id = $1
        """
    )

    func find(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress? {
        try connection.row(Self.find, [.bytes(id.bytes)]) { row throws(StoreFailure) in
            guard let app: AppID = try row.identifier(16) else { throw SQLiteResult.unreadableRow }
            var found = ImportProgress(id: id, app: app, startedAt: Timestamp(milliseconds: row.integer(13)))
            found.updatedAt = Timestamp(milliseconds: row.integer(0))
            found.isDone = row.integer(1) != 0
            (found.place, found.line) = (row.integer(2), row.integer(3))
            found.counts.recorded = row.integer(4)
            found.counts.known = row.integer(5)
            found.counts.asked = row.integer(6)
            found.counts.nothing = row.integer(7)
            found.counts.refused = row.integer(8)
            found.counts.invalid = row.integer(9)
            (found.reportBytes, found.reportTail) = (row.integer(10), row.bytes(11))
            found.counts.withoutCustomer = row.integer(12)
            found.counts.otherStore = row.integer(14)
            found.version = row.integer(15)
            return found
        }
    }

    func note(_ progress: ImportProgress) throws(StoreFailure) {
        let counts = progress.counts
        let changing: [SQLValue] = [
            .integer(progress.updatedAt.milliseconds), .integer(progress.isDone ? 1 : 0), .integer(progress.place),
            .integer(progress.line), .integer(counts.recorded), .integer(counts.known), .integer(counts.asked),
            .integer(counts.nothing), .integer(counts.refused), .integer(counts.invalid),
            .integer(progress.reportBytes), .bytes(progress.reportTail), .integer(counts.withoutCustomer),
            .integer(progress.startedAt.milliseconds), .integer(counts.otherStore),
        ]
        let id = SQLValue.bytes(progress.id.bytes)
        if progress.version == RowVersions.first {
            let fixed: [SQLValue] = [.integer(try apps.codeForWriting(progress.app))]
            try connection.insert([id, .integer(progress.version)] + fixed + changing, by: Self.insert)
        } else {
            try connection.update([id, .integer(progress.version - 1)] + changing, by: Self.update)
        }
    }
}
