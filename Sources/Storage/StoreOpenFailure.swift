/// Why a store could not be opened. ``alreadyOpen`` mends itself when the other one ends, ``full`` when
/// there is space; the rest needs a person.
package enum StoreOpenFailure: Error, Hashable, Sendable {
    /// Another process, or another store of this one, writes to this folder.
    case alreadyOpen
    /// The folder or a file in it cannot be made, read or written; the number is the system's `errno`.
    case inaccessible(path: String, errno: Int32)
    /// The file is not a database of ours.
    case foreign
    /// There is nothing in the folder or the schema yet.
    case absent
    /// An older Assay made the file, and none that writes has opened it since.
    case olderSchema(found: Int, known: Int)
    /// A newer Assay made the file.
    case newerSchema(found: Int, known: Int)
    /// A migration that was applied to the file is not the one we know under its number.
    case changedMigration(number: Int)
    /// No space is left.
    case full
    /// The database refused: SQLite with its extended result code, which tells of a damaged file; PostgreSQL with its
    /// SQLSTATE as a number in base 36.
    case broken(code: Int32)
    /// No server of that address lets us in, or none that takes writes; in the words of its client library, on one line.
    case unreachable(String)
}

extension StoreOpenFailure {
    /// What a failure of a verb means while the store is being opened.
    init(_ failure: StoreFailure) {
        self =
            switch failure {
            case .busy, .conflict, .closed: .alreadyOpen
            case .unreachable: .unreachable("it was lost, or takes no writes")
            case .full: .full
            case .unstorable: .foreign
            case .broken(let code): .broken(code: code)
            }
    }
}
