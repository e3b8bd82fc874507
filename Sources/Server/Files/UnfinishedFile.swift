import Glibc
import Synchronization

/// A file that is of no use before it is whole: until then it is called `FILE.part`, and is discarded if it comes to nothing.
///
/// A command's way and a signal's may both end it; which of them comes first is settled here.
final class UnfinishedFile: Sendable {
    // The calls marked unsafe take a path; Swift ends it with NUL and keeps it alive until they return.
    enum Fault: Error, Equatable, CustomStringConvertible {
        /// Something has the name that it is to get.
        case isThere(String)
        /// Something has the name that it has until then.
        case isBegun(String)
        case system(FileFault)

        var description: String {
            switch self {
            case .isThere(let path): "\(path) is there already; nothing is overwritten"
            case .isBegun(let path):
                "\(path) is there: what was cut off has left it, or another process writes it now; if none does, remove it"
            case .system(let fault): fault.description
            }
        }
    }

    let path: String
    /// Whether what is called `FILE.part` is this file.
    private let isInTheMaking = Mutex(false)

    /// Where it stands until it is whole.
    var partPath: String { path + ".part" }

    init(_ path: String) { self.path = path }

    /// Makes the empty file, readable to its owner alone.
    func make() throws(Fault) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(FileFault(path: path, errno: EINVAL)) }
        try isInTheMaking.withLock { isInTheMaking throws(Fault) in
            guard !Self.isThere(path) else { throw .isThere(path) }
            do throws(FileFault) {
                try OpenFile(partPath, to: .make).close()
            } catch {
                throw error.errno == EEXIST ? .isBegun(partPath) : .system(error)
            }
            isInTheMaking = true
        }
    }

    /// Gives the file its name, unless something has that by now, once all of it is on the disk.
    ///
    /// - Parameter beside: makes what is to stand beside it, just before: it is not discarded in between.
    /// - Throws: ``Fault``, or what `beside` throws.
    func finish(_ beside: () throws -> Void = {}) throws {
        try Self.synchronize(partPath, to: .update)
        try isInTheMaking.withLock { isInTheMaking in
            guard isInTheMaking else { throw Fault.system(FileFault(path: partPath, errno: ENOENT)) }
            try beside()
            try rename()
            isInTheMaking = false
        }
        try synchronizeFolder()
    }

    /// Removes what is not whole. What has its name stays.
    ///
    /// - Returns: whether there was something to remove.
    @discardableResult
    func discard() -> Bool {
        isInTheMaking.withLock { isInTheMaking in
            guard isInTheMaking else { return false }
            unsafe unlink(partPath)
            isInTheMaking = false
            return true
        }
    }

    private func rename() throws(Fault) {
        if unsafe link(partPath, path) == 0 {
            unsafe unlink(partPath)
            return
        }
        let number = errno
        guard number != EEXIST, !Self.isThere(path) else { throw .isThere(path) }
        // A stick or a share may have no hard links. There whoever takes the name in this very moment loses it.
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(number) else { throw .system(FileFault(path: path, errno: number)) }
        guard unsafe Glibc.rename(partPath, path) == 0 else { throw .system(FileFault(path: path, errno: errno)) }
    }

    /// Also a link that leads nowhere.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    private var folder: String {
        let bytes = Array(path.utf8)
        guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return end == 0 ? "/" : String(decoding: bytes[..<end], as: UTF8.self)
    }

    private func synchronizeFolder() throws(Fault) {
        do throws(Fault) {
            try Self.synchronize(folder, to: .read)
        } catch {
            // Of a file system that cannot do that with a folder there is no more to be had.
            guard case .system(let fault) = error, fault.errno == EINVAL else { throw error }
        }
    }

    private static func synchronize(_ path: String, to purpose: OpenFile.Purpose) throws(Fault) {
        do throws(FileFault) {
            let file = try OpenFile(path, to: purpose)
            try file.synchronize()
            try file.close()
        } catch {
            throw .system(error)
        }
    }
}
