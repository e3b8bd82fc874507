/// The little that settings need of a file system; in a test, a dictionary.
struct SettingsFiles: Sendable {
    struct File: Equatable, Sendable {
        let bytes: [UInt8]
        /// Whether every user of the machine may read it.
        let isWorldReadable: Bool
    }

    enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case missing, unreadable, tooLong

        var description: String {
            switch self {
            case .missing: "there is no such file"
            case .unreadable: "the file cannot be read"
            case .tooLong: "the file is longer than 4 MiB"
            }
        }
    }

    private static let bytesMax = 4 << 20

    var read: @Sendable (_ path: String) throws(Fault) -> File
    var isFolder: @Sendable (_ path: String) -> Bool

    /// Paths are relative to the working directory.
    static let disk = SettingsFiles(
        read: { path throws(Fault) in
            // Secrets are often mounted as links, whose own mode says nothing.
            guard let status = FileStatus(path) else { throw .missing }
            // A pipe has no size to tell: it is read no further than one byte too many.
            guard status.size <= bytesMax else { throw .tooLong }
            guard let bytes = try? OpenFile(path, to: .read).read(upTo: bytesMax + 1) else { throw .unreadable }
            guard bytes.count <= bytesMax else { throw .tooLong }
            return File(bytes: bytes, isWorldReadable: status.mode & 0o004 != 0)
        },
        isFolder: { FileStatus($0)?.isFolder ?? false }
    )
}
