import Foundation

/// The PostgreSQL server that scripts/postgres.sh starts for the tests.
package enum TestDatabase {
    package static let url = ProcessInfo.processInfo.environment["ASSAY_TEST_POSTGRES"]
    /// The same behind PgBouncer, which lends its sessions for one transaction.
    package static let poolerURL = ProcessInfo.processInfo.environment["ASSAY_TEST_PGBOUNCER"]
    package static let absence = """
        ASSAY_TEST_POSTGRES is not set, so that nothing is tried on PostgreSQL; scripts/postgres.sh starts a server and \
        sets it
        """

    package struct Missing: Error {
        package init() {}
    }
    package struct QueryFailed: Error {
        package let said: String
    }

    /// The name of a schema or database that nothing else has.
    package static func freshName() -> String {
        "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    }

    /// Asks the server by another way than ours: psql.
    ///
    /// - Parameters:
    ///   - text: one statement or several.
    ///   - other: the address of another database than the tests' own.
    /// - Returns: the rows, their columns divided by `|`.
    /// - Throws: ``Missing``; ``QueryFailed`` with what the server said.
    @discardableResult
    package static func query(_ text: String, of other: String? = nil) throws -> [String] {
        guard let url = other ?? url else { throw Missing() }
        var process = ChildProcess(["/usr/bin/psql", url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text])
        process.output = .pipe
        let running = try process.start()
        let said = String(decoding: running.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        guard running.waitUntilExit() == 0 else { throw QueryFailed(said: said) }
        return said.split(separator: "\n").map(String.init)
    }
}
