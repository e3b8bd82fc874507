import Glibc

/// A file in a data folder, readable to its owner alone; made by root, it belongs to whom the folder belongs to.
///
/// Whoever restores or imports is often root, and the server is not: it could not open what root had made for itself.
enum OwnedFile {
    // The calls marked unsafe take a path or a variable, which Swift keeps alive until they return.
    private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW

    /// Opens a file, and makes it if it is not there.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - folder: that it is in.
    /// - Returns: its descriptor.
    /// - Throws: ``StoreOpenFailure/inaccessible(path:errno:)``.
    static func open(_ name: String, in folder: String) throws(StoreOpenFailure) -> Int32 {
        let path = folder + "/" + name
        var descriptor = unsafe Glibc.open(path, flags)
        if descriptor < 0, errno == ENOENT {
            descriptor = unsafe Glibc.open(path, flags | O_CREAT | O_EXCL, 0o600)
            if descriptor >= 0 {
                give(descriptor, toOwnerOf: folder)
            } else if errno == EEXIST {
                // Somebody else has made it in between.
                descriptor = unsafe Glibc.open(path, flags)
            }
        }
        guard descriptor >= 0 else { throw .inaccessible(path: path, errno: errno) }
        return descriptor
    }

    /// Gives a file that is to come into a folder to the folder's owner, if this process made it as root, in a place of its own:
    /// whoever owns the folder may have put another place there meanwhile, with any file of this machine.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - place: that root has made for it.
    ///   - folder: that it is to come into.
    static func give(_ name: String, in place: String, toOwnerOf folder: String) {
        let directory = unsafe Glibc.open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard directory >= 0 else { return }
        defer { close(directory) }
        var status = stat()
        guard unsafe fstat(directory, &status) == 0, status.st_uid == 0, status.st_mode & 0o022 == 0 else { return }
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        give(descriptor, toOwnerOf: folder)
        close(descriptor)
    }

    /// Where that is not possible, as root of a container may not, the file stays root's: the doctor tells of it.
    private static func give(_ descriptor: Int32, toOwnerOf folder: String) {
        guard geteuid() == 0 else { return }
        var (place, file) = (stat(), stat())
        guard unsafe stat(folder, &place) == 0, place.st_uid != 0, unsafe fstat(descriptor, &file) == 0 else { return }
        // With a second name it may be any file of this machine, which whoever owns the folder has put there.
        guard file.st_uid == 0, file.st_mode & S_IFMT == S_IFREG, file.st_nlink == 1 else { return }
        _ = fchown(descriptor, place.st_uid, place.st_gid)
    }
}
