/// Why the store did not do what it was asked. Nothing of the write is in it afterwards, with two exceptions:
/// after ``broken(code:)`` the write may turn out to have been kept once the store is opened again, and after ``unreachable``
/// when a database server was lost in the middle of a commit and did not come back in time.
package enum StoreFailure: Error, Hashable, Sendable {
    /// Another writer was faster. The same write again, from its first read on, can mend it.
    case conflict
    /// Too much is queued, or a lock was not free in time. The same again a little later can mend it.
    case busy
    /// No database server answers, lets us in, or takes writes. The same again can mend it once one does.
    case unreachable
    /// No space is left. The same again can mend it once there is space.
    case full
    /// A value that the store cannot hold: NUL in a text, a text beyond its limit, an environment without a code.
    /// No retry mends it. Thrown before anything is written, so a batch may go on with its other proofs.
    case unstorable
    /// The database failed, with SQLite's extended result code or an SQLSTATE in base 36. With SQLite only opening the
    /// store again can mend it; until then every write is refused.
    case broken(code: Int32)
    /// The store was closed.
    case closed
}
