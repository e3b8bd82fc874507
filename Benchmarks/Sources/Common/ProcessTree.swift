import Foundation

/// A process and all below it, as the kernel counted them at one moment: `/proc`, and their clocks.
struct ProcessTree {
    private struct Entry {
        let id: Int32
        let parent: Int32
        let name: String
        /// User and system time, with that of children which have ended and were waited for.
        let seconds: Double
    }

    private let entries: [Entry]

    init(root: Int32) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let all = names.compactMap { Int32($0) }.compactMap(ProcessTree.entry)
        var found = all.filter { $0.id == root }
        var checked = 0
        while checked < found.count {
            found += all.filter { $0.parent == found[checked].id }
            checked += 1
        }
        entries = found
    }

    /// Who started a process.
    static func parent(of id: Int32) -> Int32? { entry(id)?.parent }

    /// What all of them had spent.
    var cpuSeconds: Double { entries.map(\.seconds).reduce(0, +) }

    /// What those of one name had spent.
    func cpuSeconds(of name: String) -> Double {
        entries.filter { $0.name == name }.map(\.seconds).reduce(0, +)
    }

    /// To the nanosecond: ticks would be too coarse for a short round.
    private static func seconds(of id: Int32) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(id, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// proc(5), `/proc/pid/stat`: the name in parentheses may hold anything, so the fields are counted from its end.
    private static func entry(_ id: Int32) -> Entry? {
        guard let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].split(separator: " ").dropFirst().map(String.init)
        guard fields.count > 15, let parent = Int32(fields[1]) else { return nil }
        let ended = fields[13...14].compactMap { Int($0) }.reduce(0, +)
        return Entry(
            id: id,
            parent: parent,
            name: String(stat[stat.index(after: start)..<end]),
            seconds: seconds(of: id) + Double(ended) / Double(sysconf(Int32(_SC_CLK_TCK)))
        )
    }
}

/// What one process holds in memory: proc(5), `/proc/pid/status`.
struct ProcessMemory {
    private let folder: String

    init(of id: Int32) { folder = "/proc/\(id)" }

    var residentBytes: Int { bytes(of: "VmRSS:") }
    var peakResidentBytes: Int { bytes(of: "VmHWM:") }

    /// From now on the peak is counted anew: proc(5), `/proc/pid/clear_refs`.
    func forgetPeak() throws {
        guard let file = FileHandle(forWritingAtPath: folder + "/clear_refs") else {
            throw BenchmarkFailure("\(folder)/clear_refs cannot be written")
        }
        try file.write(contentsOf: Data("5".utf8))
    }

    private func bytes(of field: String) -> Int {
        let status = (try? String(contentsOfFile: folder + "/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        let number = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        return (number.flatMap { Int($0) } ?? 0) * 1_024
    }
}
