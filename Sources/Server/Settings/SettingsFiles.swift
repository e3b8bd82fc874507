import FoundationEssentials

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

    var read: @Sendable (_ path: String) throws(Fault) -> File
    var isFolder: @Sendable (_ path: String) -> Bool

    /// Paths are relative to the working directory.
    static let disk = SettingsFiles(
        read: { path throws(Fault) in
            // Secrets are often mounted as links, whose own mode says nothing; a pipe's link leads nowhere.
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            let candidates = [target, path].lazy
            guard
                let attributes = candidates.compactMap({ try? FileManager.default.attributesOfItem(atPath: $0) }).first
            else { throw .missing }
            guard (attributes[.size] as? Int ?? 0) <= 4 << 20 else { throw .tooLong }
            guard let bytes = FileManager.default.contents(atPath: path) else { throw .unreadable }
            let mode = attributes[.posixPermissions] as? Int ?? 0o777
            return File(bytes: Array(bytes), isWorldReadable: mode & 0o004 != 0)
        },
        isFolder: { path in
            var isFolder = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
        }
    )
}
