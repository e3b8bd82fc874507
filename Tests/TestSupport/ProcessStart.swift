package import Foundation

extension Process {
    /// Starts it, one process of the tests at a time: two starts at once have ended in a crash inside Foundation.
    package func start() throws {
        Self.gate.lock()
        defer { Self.gate.unlock() }
        try run()
    }

    private static let gate = NSLock()
}
