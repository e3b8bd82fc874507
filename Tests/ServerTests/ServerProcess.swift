import Encoding
import Foundation
import Synchronization
import TestSupport

/// A server in a process of its own. It is killed at the end of the test, if it still runs.
final class ServerProcess: Sendable {
    /// It ended instead of listening.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let process: BesideProcess

    /// Starts it and waits until it says that it listens.
    ///
    /// - Parameters:
    ///   - arguments: of `assay`, the command among them.
    ///   - wrapper: a program that starts `assay` instead of us, with its own arguments.
    ///   - folder: where it works.
    ///   - readsLog: false to stop reading its log once it listens.
    /// - Throws: ``NotStarted``, and what Foundation says of a program that it cannot start.
    init(
        _ arguments: [String],
        under wrapper: [String] = [],
        in folder: String? = nil,
        readsLog: Bool = true
    ) async throws {
        let lastWord = readsLog ? nil : "\"listening\""
        process = try BesideProcess(arguments, under: wrapper, in: folder, readsLogUntil: lastWord)
        let errors = process.errors
        let isListening = await errors.until("\"event\":\"listening\"")
        let line = errors.lines.first { $0.contains("\"listening\"") } ?? ""
        port = (try? JSONDocument(Array(line.utf8)).root.object?["port"]?.int64).flatMap { UInt16(exactly: $0) } ?? 0
        guard isListening, port > 0 else { throw NotStarted(description: errors.text) }
    }

    var output: ProcessOutput { process.output }
    var errors: ProcessOutput { process.errors }

    /// Where something lies that the server has at this path: it may have mounts of its own.
    func path(of path: String) -> String { process.path(of: path) }

    /// Asks for a graceful stop.
    func stop() { process.send(SIGTERM) }

    /// Ends it as a power cut does.
    func kill() { process.send(SIGKILL) }

    /// Its exit code, or the number of the signal that ended it, negative.
    func exitCode() async -> Int32 { await process.exitCode() }
}

/// What a process says, read by a thread of its own.
final class ProcessOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isEnded = false
        var waiting: [(word: [UInt8], continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())
    private let handle: Mutex<FileHandle?>

    /// - Parameters:
    ///   - handle: the reading end.
    ///   - word: nothing is read after it; the pipe stays open and fills up.
    init(_ handle: FileHandle?, endsAfter word: String? = nil) {
        self.handle = Mutex(handle)
        guard let handle else { return }
        Thread.detachNewThread { [self] in
            while true {
                let data = handle.availableData
                note(Array(data))
                if data.isEmpty || word.map({ text.contains($0) }) == true { break }
            }
        }
    }

    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }

    var lines: [Substring] { text.split(separator: "\n") }

    /// Waits for a word; false when all was said without it.
    func until(_ word: String) async -> Bool {
        let word = Array(word.utf8)
        return await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Bool? in
                if Self.contains(word, in: state.bytes) { return true }
                if state.isEnded { return false }
                state.waiting.append((word, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Closes our end: who writes on is told that nobody reads.
    func close() {
        handle.withLock { handle in
            try? handle?.close()
            handle = nil
        }
    }

    private func note(_ bytes: [UInt8]) {
        let answers = state.withLock { state -> [(CheckedContinuation<Bool, Never>, Bool)] in
            state.bytes += bytes
            state.isEnded = bytes.isEmpty
            let found = state.waiting.map { ($0.continuation, Self.contains($0.word, in: state.bytes)) }
            let answered = state.isEnded ? found : found.filter(\.1)
            if !answered.isEmpty {
                let bytes = state.bytes
                state.waiting.removeAll { waiting in state.isEnded || Self.contains(waiting.word, in: bytes) }
            }
            return answered
        }
        for (continuation, isThere) in answers { continuation.resume(returning: isThere) }
    }

    private static func contains(_ word: [UInt8], in bytes: [UInt8]) -> Bool {
        bytes.count >= word.count && (0...bytes.count - word.count).contains { bytes[$0...].starts(with: word) }
    }
}

/// How a process ended, once it has.
final class ProcessExit: Sendable {
    private struct State {
        var code: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let state = Mutex(State())

    var isNoted: Bool { state.withLock { $0.code != nil } }

    func code() async -> Int32 {
        await withCheckedContinuation { continuation in
            let code = state.withLock { state in
                if state.code == nil { state.waiting.append(continuation) }
                return state.code
            }
            if let code { continuation.resume(returning: code) }
        }
    }

    func note(_ code: Int32) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.code = code
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: code) }
    }
}
