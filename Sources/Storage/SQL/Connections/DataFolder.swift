import Glibc

/// The folder that holds the store's files, readable to its owner alone.
struct DataFolder {
    // The calls marked unsafe take a path; Swift ends it with NUL and keeps it alive until they return.
    let path: String

    var databasePath: String { path + "/assay.sqlite" }

    /// Makes the folder if it is not there (not its parents), and claims it.
    func claim() throws(StoreOpenFailure) -> FolderLock {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .inaccessible(path: path, errno: EINVAL) }
        if unsafe mkdir(path, 0o700) == 0 {
            try Self.sync(path + "/..")
        } else if errno != EEXIST {
            throw .inaccessible(path: path, errno: errno)
        }
        let lock = try FolderLock(in: path)
        try prepareDatabaseFile()
        return lock
    }

    /// SQLite makes its files readable to all; so the file is made first, and the log takes its mode from it, and its owner.
    ///
    /// Only while no connection of this process is open: closing any descriptor of the file would drop its locks.
    private func prepareDatabaseFile() throws(StoreOpenFailure) {
        let descriptor = try OwnedFile.open("assay.sqlite", in: path)
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw .inaccessible(path: databasePath, errno: errno) }
        try sync()
    }

    /// Throws unless the database is there; makes nothing, and opens nothing: see ``prepareDatabaseFile()``.
    func confirmDatabase() throws(StoreOpenFailure) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .inaccessible(path: path, errno: EINVAL) }
        var status = stat()
        guard unsafe lstat(databasePath, &status) == 0 else {
            let number = errno
            if number == ENOENT, unsafe access(path, F_OK) == 0 { throw .absent }
            throw .inaccessible(path: path, errno: number)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .inaccessible(path: databasePath, errno: ELOOP) }
        guard unsafe access(databasePath, R_OK | W_OK) == 0 else {
            throw .inaccessible(path: databasePath, errno: errno)
        }
    }

    /// Has a file of another name be the database, unless there is one: for who restores a copy.
    func adopt(_ file: String) throws(StoreOpenFailure) {
        if let cut = file.utf8.lastIndex(of: UInt8(ascii: "/")) {
            let name = String(file[file.index(after: cut)...])
            OwnedFile.give(name, in: String(file[..<cut]), toOwnerOf: path)
        }
        // A link, because a new name would take the place of what has it.
        guard unsafe link(file, databasePath) == 0 else { throw .inaccessible(path: databasePath, errno: errno) }
        unsafe unlink(file)
        try sync()
    }

    /// Makes the names of the files in it survive a loss of power. SQLite does the same when it makes its log, but
    /// keeps a failure to itself.
    func sync() throws(StoreOpenFailure) { try Self.sync(path) }

    private static func sync(_ folder: String) throws(StoreOpenFailure) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .inaccessible(path: folder, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .inaccessible(path: folder, errno: errno) }
    }
}
