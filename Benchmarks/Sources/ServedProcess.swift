import Foundation

/// A server that was started to be measured, with everything that it started itself.
final class ServedProcess {
    let port: UInt16
    private let process = Process()

    /// What the server prints goes to the file `log`.
    init(_ executable: String, _ arguments: [String], port: UInt16, log: String) throws {
        self.port = port
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
        else { throw BenchmarkFailure("\(log) cannot be written") }
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    /// Waits until `GET /livez` is answered.
    func waitUntilLive(seconds: Int) throws {
        let end = CPUTime.elapsed + UInt64(seconds) * 1_000_000_000
        while CPUTime.elapsed < end {
            guard process.isRunning else { throw BenchmarkFailure("the server ended: see its log") }
            let result = try? LoadGenerator(port: port).run(connections: 1, requests: 1) { _, request in
                request += LoadGenerator.livez
            }
            if result?.failures == 0 { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw BenchmarkFailure("the server did not answer within \(seconds) s")
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// What the process and all below it have spent so far, in seconds; the ended ones too, if they were waited for.
    var cpuSeconds: Double {
        var ticks = 0
        for entry in tree { ticks += entry.ticks }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// What the process alone holds in memory, in bytes.
    var residentBytes: Int { bytes(of: "VmRSS:") }

    /// The most that it ever held, in bytes.
    var peakResidentBytes: Int { bytes(of: "VmHWM:") }

    private func bytes(of field: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
            * 1_024
    }

    private struct Entry {
        let id: Int32
        let parent: Int32
        let ticks: Int
    }

    private var tree: [Entry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let all = names.compactMap { Int32($0) }.compactMap(ServedProcess.entry)
        var found = all.filter { $0.id == process.processIdentifier }
        var checked = 0
        while checked < found.count {
            found += all.filter { $0.parent == found[checked].id }
            checked += 1
        }
        return found
    }

    /// proc(5), `/proc/pid/stat`: the name in parentheses may hold anything, so the fields are counted from its end.
    private static func entry(_ id: Int32) -> Entry? {
        guard let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].split(separator: " ").dropFirst().map(String.init)
        guard fields.count > 15, let parent = Int32(fields[1]) else { return nil }
        return Entry(id: id, parent: parent, ticks: fields[11...14].compactMap { Int($0) }.reduce(0, +))
    }
}
