import Foundation
import TestSupport
import Testing

/// The small writer beside the tests.
enum StoreProbe {
    private static let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/StoreProbe"

    /// False when there is no strace, or it may not trace.
    static let canBeTraced: Bool = {
        let strace = ChildProcess(["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "/bin/true"])
        return (try? strace.start().waitUntilExit()) == 0
    }()

    /// Makes the files, and nothing in them.
    static func prepare(_ folder: String) async throws {
        #expect(try await run(folder: folder, purchases: 0, options: nil) == ["closed"])
    }

    /// The numbers of the purchases that were said to be on disk.
    static func acknowledged(in said: [String]) -> [Int64] {
        said.filter { $0.hasSuffix(" new") || $0.hasSuffix(" known") }.compactMap { Int64($0.prefix { $0 != " " }) }
    }

    /// How often a whole run makes a call.
    static func calls(of call: String, folder: String, purchases: Int64) async throws -> Int {
        let log = folder + ".log"
        _ = try await run(folder: folder, purchases: purchases, options: ["-o", log, "-e", "trace=\(call)"])
        let text = try String(contentsOfFile: log, encoding: .utf8)
        return text.split(separator: "\n").count { $0.contains(call + "(") }
    }

    /// Runs it to its end, or to its death, and tells the lines that it said.
    ///
    /// - Parameters:
    ///   - folder: the ledger's.
    ///   - purchases: how many it writes, each in a write of its own.
    ///   - way: `long` when it then writes a long decision, goes on in the same write when that fails, and writes one
    ///     purchase more; `unchecked` when the log is brought into the database at the end alone.
    ///   - options: strace's; `nil` for without it.
    /// - Returns: the lines.
    /// - Throws: what starting it throws.
    static func run(
        folder: String,
        purchases: Int64,
        way: String? = nil,
        options: [String]?
    ) async throws -> [String] {
        var process = ChildProcess([])
        let database = folder + "/assay.sqlite"
        let writer = [path, folder, "\(purchases)"] + (way.map { [$0] } ?? [])
        if let options {
            let log = options.contains("-o") ? [] : ["-o", "/dev/null"]
            // Writes to the log's index promise nothing.
            let files = options.contains("trace=pwrite64") ? ["-P", database, "-P", database + "-wal"] : []
            process.words = ["/usr/bin/strace", "-f", "-qq"] + log + files + options + writer
        } else {
            process.words = writer
        }
        process.output = .pipe
        let running = try process.start()
        let said = running.output?.readDataToEndOfFile() ?? Data()
        running.waitUntilExit()
        return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
