import Foundation

/// A server that was started to be measured, with everything that it started itself. It chooses its own port.
final class ServedProcess {
    let name: String
    private(set) var port: UInt16 = 0
    private let process = Process()
    private let log: String
    private let beforePort: String

    /// How many lines of its own words tell why a server is of no use.
    private static let lastLinesMax = 12

    /// - Parameters:
    ///   - name: what failures call it.
    ///   - executable: its path.
    ///   - arguments: as it takes them.
    ///   - beforePort: what stands before the port in the line that says where it listens.
    ///   - log: the file for all that it prints.
    /// - Throws: `BenchmarkFailure` when it cannot be started.
    init(_ name: String, _ executable: String, _ arguments: [String], beforePort: String, log: String) throws {
        self.name = name
        self.log = log
        self.beforePort = beforePort
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
        else { throw BenchmarkFailure("\(log) cannot be written") }
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw BenchmarkFailure("\(name) does not start: \(executable) cannot be run (\(error))")
        }
    }

    /// Waits until it says where it listens and `GET /livez` is answered.
    func waitUntilLive(seconds: Int) throws {
        let end = CPUTime.elapsed + UInt64(seconds) * 1_000_000_000
        while CPUTime.elapsed < end {
            guard process.isRunning else { throw ended("before it listened") }
            if let port = portInLog, isLive(port) {
                self.port = port
                return
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw BenchmarkFailure("\(name) did not answer within \(seconds) s. \(lastWords)")
    }

    /// Runs a measurement; what fails in it is told with the server's own words.
    func measure<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as BenchmarkFailure {
            // Who has just died may not be known to be dead yet.
            Thread.sleep(forTimeInterval: 0.2)
            guard process.isRunning else { throw ended("while it was measured (\(failure))") }
            throw BenchmarkFailure("\(name): \(failure). \(lastWords)")
        }
    }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// All that runs now and belongs to it.
    var tree: ProcessTree { ProcessTree(root: process.processIdentifier) }

    /// Of the process alone.
    var memory: ProcessMemory { ProcessMemory(of: process.processIdentifier) }

    private func isLive(_ port: UInt16) -> Bool {
        let result = try? LoadGenerator(port: port).run(connections: 1, requests: 1) { _, request in
            request += LoadGenerator.livez
        }
        return result?.failures == 0
    }

    private var portInLog: UInt16? {
        guard let place = text.range(of: beforePort) else { return nil }
        return UInt16(text[place.upperBound...].prefix { $0.isNumber })
    }

    private func ended(_ when: String) -> BenchmarkFailure {
        let how = process.terminationReason == .exit ? "with status" : "by signal"
        return BenchmarkFailure("\(name) ended \(when), \(how) \(process.terminationStatus). \(lastWords)")
    }

    private var text: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    private var lastWords: String {
        let lines = text.split(separator: "\n").suffix(ServedProcess.lastLinesMax)
        if lines.isEmpty { return "It said nothing." }
        return "It said:\n" + lines.map { "    \($0)" }.joined(separator: "\n")
    }
}
