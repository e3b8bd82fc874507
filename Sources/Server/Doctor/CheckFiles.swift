import Synchronization

/// Who may read and change what only the server should.
enum CheckFiles {
    /// Notes which files the settings were read from.
    final class Reading: Sendable {
        private let paths = Mutex<[String]>([])

        var seen: [String] { paths.withLock { $0 } }

        func files(_ disk: SettingsFiles) -> SettingsFiles {
            SettingsFiles(
                read: { [self] path throws(SettingsFiles.Fault) in
                    paths.withLock { if !$0.contains(path) { $0.append(path) } }
                    return try disk.read(path)
                },
                isFolder: disk.isFolder
            )
        }
    }

    /// - Parameters:
    ///   - paths: the configuration's file and those of secrets; that others may read those is the configuration's to say.
    ///   - data: the ledger's folder; `nil` when there is none.
    /// - Returns: one for each that is open, or one that says that none is.
    static func findings(_ paths: [String], data: String?) -> [Finding] {
        var findings = paths.compactMap { path in FileStatus(path).flatMap { writable(path, $0.mode) } }
        if let data {
            for path in [data, data + "/assay.sqlite"] {
                if let status = FileStatus(path), let finding = open(path, status.mode) { findings.append(finding) }
            }
        }
        let count = paths.count + (data == nil ? 0 : 1)
        return findings.isEmpty ? [.ok("files", "\(count) looked at: nobody else may read or change them")] : findings
    }

    /// Settings decide who is believed: who may change them is the server.
    private static func writable(_ path: String, _ mode: Int) -> Finding? {
        guard mode & 0o022 != 0 else { return nil }
        return .fail(
            "files",
            of: path,
            "mode \(octal(mode)): others than its owner may change it",
            cause: "Who changes it decides which purchases are believed.",
            fix: "chmod go-w \(path)"
        )
    }

    private static func open(_ path: String, _ mode: Int) -> Finding? {
        guard mode & 0o007 != 0 else { return nil }
        return .fail(
            "files",
            of: path,
            "mode \(octal(mode)): every user of this machine has the ledger",
            cause: "Customers, purchases and proofs stand in it.",
            fix: "chmod o-rwx \(path)"
        )
    }

    private static func octal(_ mode: Int) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
