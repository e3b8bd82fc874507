import FoundationEssentials
import Storage

/// Where the ledger's folder lies.
enum CheckDisk {
    /// What is written to these is gone after a restart.
    private static let inMemory = ["tmpfs", "ramfs"]
    /// Those whose locks and syncs are another machine's word: SQLite says not to use them.
    private static let remote = [
        "nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs", "fuse.glusterfs",
    ]
    /// Below it a backup or a long log has no room.
    private static let spaceLeast = 1 << 30
    private static let spaceDoubtful = 5 << 30

    static func findings(folder: String) -> [Finding] {
        var path = URL(filePath: folder).resolvingSymlinksInPath().path
        // Nothing is there before the first start: then it is where it will be.
        while path != "/", !FileManager.default.fileExists(atPath: path) {
            path = URL(filePath: path).deletingLastPathComponent().path
        }
        let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
        let free = DiskRoom.free(at: path)
        return [kind(MountTable(mounts).kind(of: path), folder)] + (free.map { [space($0, folder)] } ?? [])
    }

    static func kind(_ kind: String?, _ folder: String) -> Finding {
        guard let kind else { return .ok("file_system", of: folder, "of a type that the system does not tell") }
        if inMemory.contains(kind) {
            return .fail(
                "file_system",
                of: folder,
                "\(kind) lies in memory",
                cause: "What was confirmed is gone after a restart of the machine.",
                fix: "put data on a disk"
            )
        }
        if remote.contains(kind) {
            return .fail(
                "file_system",
                of: folder,
                "\(kind) is another machine's",
                cause: "SQLite's locks and syncs do not hold over it: the ledger can be damaged.",
                fix: "put data on a disk of this machine, or the ledger into PostgreSQL"
            )
        }
        return .ok("file_system", of: folder, kind)
    }

    static func space(_ free: Int, _ folder: String) -> Finding {
        let found = "\(free >> 20) MiB free"
        let fix = "make room, or give the ledger a larger disk; when it is full nothing is recorded"
        if free < spaceLeast { return .fail("space", of: folder, found, fix: fix) }
        if free < spaceDoubtful { return .warn("space", of: folder, found, fix: fix) }
        return .ok("space", of: folder, found)
    }
}
