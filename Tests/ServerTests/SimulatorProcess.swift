import Foundation
import Simulator
import TestSupport

/// `assay simulate` as a process, with time that moves only when told. It is killed at the end of the test.
final class SimulatorProcess: Sendable {
    let port: UInt16
    /// Where its authority is.
    let folder: String
    private let exit: ProcessExit
    private let id: pid_t

    /// The moment at which its store begins.
    static let start = "2026-01-01T00:00:00Z"

    var base: String { "http://127.0.0.1:\(port)" }

    /// Starts it over an authority that is there already: making keys takes seconds.
    ///
    /// - Parameters:
    ///   - folder: where it is to keep its things.
    ///   - flags: further ones.
    /// - Throws: ``ServerProcess/NotStarted``, and ``ChildProcess/NotStarted``.
    convenience init(in folder: String, _ flags: String...) async throws {
        try await self.init(in: folder, startingAt: Self.start, flags)
    }

    /// - Parameters:
    ///   - folder: where it is to keep its things.
    ///   - start: where its time begins.
    ///   - flags: further ones.
    ///   - isNew: whether it makes an authority of its own, in place of that of all tests.
    /// - Throws: ``ServerProcess/NotStarted``, and ``ChildProcess/NotStarted``.
    init(in folder: String, startingAt start: String, _ flags: [String] = [], isNew: Bool = false) async throws {
        self.folder = folder + "/simulator"
        if !isNew { try Self.makeAuthority(in: self.folder) }
        let words = ["simulate", "--data", self.folder, "--listen", "127.0.0.1:0", "--pace", "0"]
        var process = ChildProcess([Program.path] + words + ["--start", start] + flags)
        process.environment = [:]
        process.output = .pipe
        process.errors = .pipe
        let exit = ProcessExit()
        self.exit = exit
        let running = try process.start()
        running.whenEnded { exit.note($0) }
        id = running.id
        let started = id
        DispatchQueue.global().asyncAfter(deadline: .now() + 3_600) {
            if !exit.isNoted { Foundation.kill(started, SIGKILL) }
        }
        let output = ProcessOutput(running.output)
        let errors = ProcessOutput(running.errors)
        let isOpen = await output.until("Ctrl-C stops it")
        port = Self.port(in: output.text) ?? 0
        guard isOpen, port > 0 else { throw ServerProcess.NotStarted(description: errors.text) }
    }

    deinit {
        if !exit.isNoted { Foundation.kill(id, SIGKILL) }
    }

    func stop() async -> Int32 {
        Foundation.kill(id, SIGTERM)
        return await exit.code()
    }

    /// Runs a command against it: `simulate`, the words, and where it is.
    func run(_ words: String..., input: String = "") async throws -> Program.Run {
        try await Program.run(["simulate"] + words + ["--at", base], input: Array(input.utf8))
    }

    /// The keys that all tests share, as the program keeps its own.
    static func makeAuthority(in folder: String) throws {
        let authority = folder + "/authority"
        try FileManager.default.createDirectory(atPath: authority, withIntermediateDirectories: true)
        for (name, bytes) in try TestAuthority.shared.files() {
            try ServerFolder.write(bytes, "\(authority)/\(name)", isSecret: true)
        }
    }

    /// Out of a greeting.
    static func port(in greeting: String) -> UInt16? {
        greeting.firstMatch(of: /open on http:\/\/127\.0\.0\.1:([0-9]+)/).flatMap { UInt16($0.1) }
    }
}
