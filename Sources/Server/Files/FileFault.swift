import Glibc

/// Why the system did not do what was asked of a file or a folder.
struct FileFault: Error, Equatable, CustomStringConvertible {
    let path: String
    /// The system's number.
    let errno: Int32

    var description: String {
        // The words lie where they are until this thread asks again, and are copied before.
        let words = unsafe strerror(errno).map { unsafe String(cString: $0) }
        return "\(path): \(words ?? "error") (errno \(errno))"
    }
}
