import Foundation
import TestSupport
import Testing

@testable import Storage

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

    /// What a transaction wrote before it was rolled back is neither read nor written later: its place is another's then.
    @Test func whatIsRolledBackIsForgotten() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder + "/some.sqlite"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let writer = try SQLiteConnection(path: path, role: .writer)
            try writer.prepareForWriting()
            try writer.runScript("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            try writer.runScript("PRAGMA cache_size = 4")
            #expect(throws: StoreFailure.conflict) {
                try writer.write { connection throws(StoreFailure) in
                    for _ in 0..<20 { try connection.runScript("INSERT INTO t (b) VALUES (randomblob(3000))") }
                    throw .conflict
                }
            }
            let foreign = try SQLiteConnection(path: path, role: .reader)
            try foreign.runScript("INSERT INTO t (b) VALUES (zeroblob(20000))")
            try writer.runScript("INSERT INTO t (b) VALUES (zeroblob(3000))")
            let check = Query("SELECT (SELECT integrity_check FROM pragma_integrity_check) || count(*) FROM t")
            #expect(try foreign.row(check) { $0.text(0) } == "ok2")
        }
    }
}
