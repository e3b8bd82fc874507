import Glibc

/// Whether the disk under a folder has room.
package enum DiskRoom {
    // The calls marked unsafe take a path or a buffer, which Swift keeps alive until they return.
    /// With fewer bytes free it is tried out whether there is room: what is free is not what this user may take, which quotas
    /// and blocks that are kept for root decide.
    package static let scarceBytes = 8 << 20
    /// What is written to try it: more than most commits need.
    private static let trialBytes = 1 << 20

    /// How many bytes somebody without privileges may still write where a path lies; `nil` where that cannot be told.
    package static func free(at path: String) -> Int? {
        var status = statvfs()
        guard !path.utf8.contains(0), unsafe statvfs(path, &status) == 0 else { return nil }
        let (bytes, isTooMany) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMany ? .max : Int(clamping: bytes)
    }

    /// Writes a file to a folder, and takes it away.
    ///
    /// - Returns: false when there was no room for it; whatever else is wrong with the disk, the ledger's own writes tell.
    static func isThere(in folder: String) -> Bool {
        let path = folder + "/assay.room"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return !SystemErrors.isLackOfSpace(errno) }
        // Without a name nothing of it is left, whatever ends this process.
        unsafe unlink(path)
        defer { close(descriptor) }
        let part = [UInt8](repeating: 0xA5, count: 1 << 16)
        var written = 0
        while written < trialBytes {
            let count = unsafe write(descriptor, part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return !SystemErrors.isLackOfSpace(errno) }
            written += count
        }
        return fsync(descriptor) == 0 || !SystemErrors.isLackOfSpace(errno)
    }
}
