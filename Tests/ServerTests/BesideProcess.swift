import Foundation
import TestSupport

/// `assay` in a process of its own that goes on beside the test. It is killed at the end, if it still runs.
final class BesideProcess: Sendable {
    let output: ProcessOutput
    let errors: ProcessOutput
    private let exit = ProcessExit()
    private let id: pid_t

    /// - Parameters:
    ///   - arguments: of `assay`, the command among them.
    ///   - folder: where it works.
    /// - Throws: ``ChildProcess/NotStarted``.
    init(_ arguments: [String], in folder: String) throws {
        var process = ChildProcess([Program.path] + arguments)
        process.environment = [:]
        process.folder = folder
        process.output = .pipe
        process.errors = .pipe
        let running = try process.start()
        running.whenEnded { [exit] in exit.note($0) }
        id = running.id
        output = ProcessOutput(running.output)
        errors = ProcessOutput(running.errors)
        let started = running.id
        DispatchQueue.global().asyncAfter(deadline: .now() + 120) { [exit] in
            if !exit.isNoted { kill(started, SIGKILL) }
        }
    }

    deinit {
        if !exit.isNoted { kill(id, SIGKILL) }
    }

    /// As Ctrl-C does.
    func interrupt() { kill(id, SIGINT) }

    /// Its exit code, or the number of the signal that ended it, negative.
    func exitCode() async -> Int32 { await exit.code() }
}
