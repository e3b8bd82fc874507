import Encoding

/// Which file system a path lies on, by the lines of `/proc/self/mountinfo`.
struct MountTable: Sendable {
    private var mounts: [(point: String, kind: String)] = []

    /// A line is `36 35 98:0 /root /point options… - type source …`; spaces in a name are `\040`.
    init(_ text: String) {
        for line in text.utf8.split(separator: 0x0A) {
            let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
            guard let dash = words.firstIndex(of: "-"), words.count > dash + 1, dash > 4 else { continue }
            mounts.append((words[4].replacing("\\040", with: " "), words[dash + 1]))
        }
    }

    /// The type of the last one that is mounted nearest above an absolute path.
    func kind(of path: String) -> String? {
        var found: (point: String, kind: String)?
        for mount in mounts where Self.holds(mount.point, path) {
            if mount.point.utf8.count >= found?.point.utf8.count ?? 0 { found = mount }
        }
        return found?.kind
    }

    private static func holds(_ point: String, _ path: String) -> Bool {
        point == "/" || path == point || path.hasPrefix(point + "/")
    }
}
