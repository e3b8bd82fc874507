import Glibc

/// A folder that its owner alone may open.
enum PrivateFolder {
    /// Makes it, and none of those around it.
    static func make(_ path: String) throws(FileFault) {
        guard !path.utf8.contains(0) else { throw FileFault(path: path, errno: EINVAL) }
        // Swift keeps the path alive until the call returns.
        guard unsafe mkdir(path, 0o700) == 0 else { throw FileFault(path: path, errno: errno) }
    }
}
