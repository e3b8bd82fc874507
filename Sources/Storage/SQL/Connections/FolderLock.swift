import Glibc

/// The claim of one store on a data folder, held as long as it lives. The kernel ends it with the process.
package final class FolderLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``StoreOpenFailure/alreadyOpen`` when another store holds it.
    package init(in folder: String) throws(StoreOpenFailure) {
        descriptor = try OwnedFile.open("assay.lock", in: folder)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            // Thrown now, this is deinitialised: to close here would close twice, and the second time, perhaps, what
            // another thread has just opened.
            if number == EWOULDBLOCK { throw .alreadyOpen }
            throw .inaccessible(path: folder + "/assay.lock", errno: number)
        }
    }

    /// A child that is just being started has the descriptor, too, until it runs its program: to close it alone would not end
    /// the claim.
    deinit {
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }
}
