package import PurchaseModel

/// How far a source of old purchases was read: written in the commit of what its rows led to, so that whoever goes on after
/// a crash neither leaves a row out nor takes one twice.
package struct ImportProgress: Hashable, Sendable {
    /// Of the source's bytes, and of how it is read.
    package let id: ProofDigest
    package let app: AppID
    /// When its first row was read; the last time, if that was several times.
    package let startedAt: Timestamp
    package var updatedAt: Timestamp
    /// Nothing of the source is left.
    package var isDone = false
    /// Where the next row begins, in bytes.
    package var place: Int64 = 0
    /// On which line, from 1.
    package var line: Int64 = 1
    package var counts = ImportCounts()
    /// How long the report was before the last rows were written to it.
    package var reportBytes: Int64 = 0
    /// Those rows, as they stand in the report; empty without one.
    package var reportTail: [UInt8] = []
    /// Of two that read the same source at once only the first writes.
    package var version: Int64 = 0

    package init(id: ProofDigest, app: AppID, startedAt: Timestamp) {
        self.id = id
        self.app = app
        self.startedAt = startedAt
        updatedAt = startedAt
    }

    /// The same source from its first row on, once more.
    package func begunAgain(at moment: Timestamp) -> ImportProgress {
        var again = ImportProgress(id: id, app: app, startedAt: moment)
        again.version = version
        return again
    }

    /// Whether nothing of the source was read yet, or nothing since it was begun again.
    package var isAtBeginning: Bool { counts.rows == 0 && !isDone }
}

/// What became of the rows of a source.
package struct ImportCounts: Hashable, Sendable {
    /// Something of it was unknown, and is recorded now.
    package var recorded: Int64 = 0
    /// All of it was known.
    package var known: Int64 = 0
    /// Apple decides, by and by.
    package var asked: Int64 = 0
    /// Genuine, and no purchase; or passed over.
    package var nothing: Int64 = 0
    /// Those of them that were bought in another store than Apple's.
    package var otherStore: Int64 = 0
    package var refused: Int64 = 0
    /// It is no row of an import.
    package var invalid: Int64 = 0
    /// Those of the recorded, known and asked ones that name no customer.
    package var withoutCustomer: Int64 = 0

    package init() {}

    /// Rows for which nothing is, or will be, in the ledger, though it might be. What was bought elsewhere never is.
    package var untaken: Int64 { nothing - otherStore + refused + invalid }

    package var rows: Int64 { recorded + known + asked + nothing + refused + invalid }
}
