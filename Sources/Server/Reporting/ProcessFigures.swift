import FoundationEssentials

/// Memory, processor time and descriptors of this process, as Prometheus' client libraries name them. From /proc.
enum ProcessFigures {
    static let names = [
        "process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
    ]

    static func text() -> String {
        var text = ""
        if let resident = statusKilobytes("VmRSS") {
            text += "# HELP process_resident_memory_bytes Resident memory.\n"
            text += "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes \(resident * 1_024)\n"
        }
        if let seconds = processorSeconds() {
            text += "# HELP process_cpu_seconds_total User and system time.\n"
            text += "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total \(seconds)\n"
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            text += "# HELP process_open_fds Open descriptors.\n"
            text += "# TYPE process_open_fds gauge\nprocess_open_fds \(open.count)\n"
        }
        if let most = openFilesMax() {
            text += "# HELP process_max_fds Descriptors that may be open.\n"
            text += "# TYPE process_max_fds gauge\nprocess_max_fds \(most)\n"
        }
        return text
    }

    /// How many descriptors this process may have open: the soft limit; `nil` where there is none.
    static func openFilesMax() -> Int? {
        let name = Array("Max open files".utf8)
        let line = contents("/proc/self/limits").split(separator: 0x0A).first { $0.starts(with: name) }
        let words = line?.dropFirst(name.count).split(separator: 0x20) ?? []
        return words.first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// Reads whole: files of /proc have no length to ask for.
    private static func contents(_ path: String) -> [UInt8] {
        (try? OpenFile(path, to: .read).read(upTo: 65_536)) ?? []
    }

    private static func statusKilobytes(_ name: String) -> Int? {
        for line in contents("/proc/self/status").split(separator: 0x0A) where line.starts(with: Array("\(name):".utf8))
        {
            let digits = line.filter { (0x30...0x39).contains($0) }
            return Int(String(decoding: digits, as: UTF8.self))
        }
        return nil
    }

    /// Fields 14 and 15 of /proc/self/stat, in hundredths of a second; the name before them may hold spaces.
    private static func processorSeconds() -> Double? {
        let stat = contents("/proc/self/stat")
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split(separator: 0x20)
        guard fields.count > 12, let user = Int(String(decoding: fields[11], as: UTF8.self)),
            let system = Int(String(decoding: fields[12], as: UTF8.self))
        else { return nil }
        return Double(user + system) / 100
    }
}
