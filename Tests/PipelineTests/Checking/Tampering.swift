import Foundation
import Storage
import TestSupport

/// Another hand on a ledger: what nobody of ours writes.
enum Tampering {
    struct Failed: Error {}

    static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    /// Runs statements on the file of a folder that nobody has open.
    static func run(_ statements: [String], in folder: String) throws {
        let script = """
            import sqlite3, sys
            file = sqlite3.connect(sys.argv[1], isolation_level=None)
            file.execute("PRAGMA ignore_check_constraints = 1")
            for statement in sys.argv[2:]: file.execute(statement)
            """
        let process = ChildProcess(["/usr/bin/python3", "-c", script, folder + "/assay.sqlite"] + statements)
        guard try process.start().waitUntilExit() == 0 else { throw Failed() }
    }

    /// The same in a schema of the tests' database.
    static func run(_ statements: [String], schema: String) throws {
        for statement in statements { try TestDatabase.query("SET search_path TO \(schema); \(statement)") }
    }

    static func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    static func withSchema<Value>(_ body: (PostgreSQLSettings) async throws -> Value) async throws -> Value {
        let schema = TestDatabase.freshName()
        guard let url = TestDatabase.url,
            var settings = PostgreSQLSettings(url: url, schema: schema, pause: { try? await Task.sleep(for: $0) })
        else { throw TestDatabase.Missing() }
        settings.writers = 1
        settings.readers = 1
        // Time passes in these lives as a test says, in a memory store as in this.
        settings.leaseClock = .callers
        let result: Result<Value, any Error>
        do { result = .success(try await body(settings)) } catch { result = .failure(error) }
        _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE")
        return try result.get()
    }
}
