/// Why a store could not be opened. Only ``alreadyOpen`` mends itself, when the other one ends.
package enum StoreOpenFailure: Error, Hashable, Sendable {
    /// Another process, or another store of this one, writes to this folder.
    case alreadyOpen
    /// The folder or a file in it cannot be made, read or written; the number is the system's `errno`.
    case inaccessible(path: String, errno: Int32)
    /// The file is not a database of ours.
    case foreign
    /// A newer Assay made the file.
    case newerSchema(found: Int, known: Int)
    /// A migration that was applied to the file is not the one we know under its number.
    case changedMigration(number: Int)
    /// SQLite refused, with its extended result code: a damaged file, a full disk.
    case broken(code: Int32)
}
