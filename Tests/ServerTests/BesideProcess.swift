import Foundation
import TestSupport

/// `assay` in a process of its own that goes on beside the test. It is killed at the end, if it still runs.
final class BesideProcess: Sendable {
    let output: ProcessOutput
    let errors: ProcessOutput
    private let exit = ProcessExit()
    /// Of what was started: `assay`, or what starts it.
    private let started: pid_t
    private let isWrapped: Bool

    /// - Parameters:
    ///   - arguments: of `assay`, the command among them.
    ///   - wrapper: a program that starts `assay` instead of us, with its own arguments.
    ///   - folder: where it works.
    ///   - lastWord: its log is not read any more after this word.
    /// - Throws: ``ChildProcess/NotStarted``.
    init(
        _ arguments: [String],
        under wrapper: [String] = [],
        in folder: String?,
        readsLogUntil lastWord: String? = nil
    ) throws {
        var process = ChildProcess(wrapper + [Program.path] + arguments)
        process.environment = [:]
        process.folder = folder
        process.output = .pipe
        process.errors = .pipe
        let running = try process.start()
        running.whenEnded { [exit] in exit.note($0) }
        started = running.id
        isWrapped = !wrapper.isEmpty
        output = ProcessOutput(running.output)
        errors = ProcessOutput(running.errors, endsAfter: lastWord)
        let id = running.id
        DispatchQueue.global().asyncAfter(deadline: .now() + 3_600) { [exit] in
            if !exit.isNoted { kill(id, SIGKILL) }
        }
    }

    deinit {
        if !exit.isNoted { kill(id, SIGKILL) }
    }

    /// Of `assay` itself: what starts it keeps signals away from it.
    private var id: pid_t { isWrapped ? Self.child(of: started) ?? started : started }

    private static func child(of id: pid_t) -> pid_t? {
        let path = "/proc/\(id)/task/\(id)/children"
        guard let children = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return children.split(separator: " ").first.flatMap { pid_t($0) }
    }

    func path(of path: String) -> String { "/proc/\(id)/root\(path)" }

    func send(_ signal: Int32) { kill(id, signal) }

    /// As Ctrl-C does.
    func interrupt() { send(SIGINT) }

    /// Its exit code, or the number of the signal that ended it, negative.
    func exitCode() async -> Int32 { await exit.code() }
}
