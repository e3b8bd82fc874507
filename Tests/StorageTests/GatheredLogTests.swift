import Foundation
import TestSupport
import Testing

/// The log of SQLite that is written in large pieces.
struct GatheredLogTests {
    /// Writes anywhere, reads, cuts and syncs, in any order: what is read is what was written, and what was synced is in the
    /// file.
    @Test(arguments: [1, 51, 101, 151])
    func isToSQLiteAsIfEachPieceWereWritten(first: Int) async throws {
        try await TemporaryFolder.with { folder in
            let database = folder + "/some.sqlite"
            #expect(FileManager.default.createFile(atPath: database, contents: nil))
            let probe = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/LogProbe"
            var process = ChildProcess([probe, database, "\(first)", "50"])
            process.output = .pipe
            let running = try process.start()
            let said = String(decoding: running.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
            #expect(running.waitUntilExit() == 0)
            #expect(said.split(separator: "\n").map(String.init) == (first..<first + 50).map { "\($0): alike" })
        }
    }

    /// Where SQLite has two for each of its pages. Beside them the beginning of a log is written, and pages of the database.
    @Test(.enabled(if: StoreProbe.canBeTraced, "strace is missing or not permitted: no call is counted"))
    func aCommitIsOnePiece() async throws {
        try await TemporaryFolder.with { folder in
            let data = folder + "/data"
            try await StoreProbe.prepare(data)
            let log = folder + "/log"
            let options = ["-o", log, "-e", "trace=pwrite64"]
            _ = try await StoreProbe.run(folder: data, purchases: 20, options: options)
            let text = try String(contentsOfFile: log, encoding: .utf8)
            let sizes = text.split(separator: "\n").compactMap { Int($0.split(separator: " ").last ?? "") }
            #expect(sizes.count { $0 > 4_096 } == 20)
            #expect(sizes.allSatisfy { $0 == 32 || $0 >= 4_096 })
        }
    }
}
