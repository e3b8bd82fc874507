import Glibc
import PurchaseModel

/// What the system tells of a file, or of what a link leads to.
///
/// Asked of the system itself: in Foundation's dictionary of attributes the numbers are of one type where the whole of
/// Foundation is in a program, and of others where it is not.
struct FileStatus {
    // The calls marked unsafe take a path and a variable, which Swift keeps alive until they return.
    /// The lowest twelve bits: who may do what.
    let mode: Int
    /// The system's number of the user whose it is.
    let owner: UInt32
    let place: Place
    /// In bytes.
    let size: Int64
    let isFolder: Bool
    /// It is neither a folder nor a pipe nor a device, and can be read from its beginning to an end.
    let isRegular: Bool
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Which file it is, whatever its names are.
    struct Place: Hashable, Sendable {
        /// The device's number, in its two parts.
        let major: UInt32
        let minor: UInt32
        let inode: UInt64
    }

    /// `nil` when nothing is there, or nothing that this user may look at.
    init?(_ path: String) {
        var status = stat()
        guard !path.utf8.contains(0), unsafe stat(path, &status) == 0 else { return nil }
        mode = Int(status.st_mode & 0o7777)
        owner = status.st_uid
        // As glibc packs it: the upper bits of each part lie above all the lower ones.
        let device = UInt64(status.st_dev)
        place = Place(
            major: UInt32(truncatingIfNeeded: (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF),
            minor: UInt32(truncatingIfNeeded: device & 0xFF | (device >> 12) & ~0xFF),
            inode: UInt64(status.st_ino)
        )
        size = Int64(status.st_size)
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
    }

    /// When its content changed. Some file systems keep moments that no count of milliseconds reaches.
    var changed: Timestamp {
        let (whole, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000)
        let (milliseconds, isBeyond) = whole.addingReportingOverflow(nanoseconds / 1_000_000)
        return Timestamp(milliseconds: isTooFar || isBeyond ? (seconds < 0 ? .min : .max) : milliseconds)
    }
}
