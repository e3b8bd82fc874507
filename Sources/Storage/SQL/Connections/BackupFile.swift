import Glibc

/// A copy of a ledger, in the making under a name of its own until it is whole.
struct BackupFile {
    // The calls marked unsafe take a path; Swift ends it with NUL and keeps it alive until they return.
    let path: String

    /// Where it stands until it is whole.
    var partPath: String { path + ".part" }

    /// Makes the empty file, readable to its owner alone.
    ///
    /// - Throws: ``StoreOpenFailure/inaccessible(path:errno:)``, with `EEXIST` when it, or the whole one, is there.
    func create() throws(StoreOpenFailure) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .inaccessible(path: path, errno: EINVAL) }
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { throw .inaccessible(path: path, errno: EEXIST) }
        let descriptor = unsafe open(partPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .inaccessible(path: partPath, errno: errno) }
        close(descriptor)
    }

    /// Gives the file its name, unless something has that by now, once all of it is on the disk.
    func finish() throws(StoreOpenFailure) {
        try sync(partPath, O_RDWR)
        guard unsafe link(partPath, path) == 0 else { throw .inaccessible(path: path, errno: errno) }
        unsafe unlink(partPath)
        try sync(folder, O_RDONLY | O_DIRECTORY)
    }

    func discard() { unsafe unlink(partPath) }

    private var folder: String {
        let bytes = Array(path.utf8)
        guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return end == 0 ? "/" : String(decoding: bytes[..<end], as: UTF8.self)
    }

    private func sync(_ path: String, _ flags: Int32) throws(StoreOpenFailure) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw .inaccessible(path: path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .inaccessible(path: path, errno: errno) }
    }
}
