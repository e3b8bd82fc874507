/// Why a store could not be opened. ``alreadyOpen`` mends itself when the other one ends, ``full`` when
/// there is space; the rest needs a person.
package enum StoreOpenFailure: Error, Hashable, Sendable {
    /// Another process, or another store of this one, writes to this folder.
    case alreadyOpen
    /// The folder or a file in it cannot be made, read or written; the number is the system's `errno`.
    case inaccessible(path: String, errno: Int32)
    /// The file is not a database of ours.
    case foreign
    /// There is nothing in the folder yet.
    case absent
    /// An older Assay made the file, and none that writes has opened it since.
    case olderSchema(found: Int, known: Int)
    /// A newer Assay made the file.
    case newerSchema(found: Int, known: Int)
    /// A migration that was applied to the file is not the one we know under its number.
    case changedMigration(number: Int)
    /// No space is left.
    case full
    /// SQLite refused, with its extended result code: a damaged file.
    case broken(code: Int32)
}

extension StoreOpenFailure {
    /// What a failure of a verb means while the store is being opened.
    init(_ failure: StoreFailure) {
        self =
            switch failure {
            case .busy, .conflict, .closed: .alreadyOpen
            case .full: .full
            case .unstorable: .foreign
            case .broken(let code): .broken(code: code)
            }
    }
}
