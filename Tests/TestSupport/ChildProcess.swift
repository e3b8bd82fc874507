package import Foundation
import Synchronization

/// A program that a test starts.
///
/// By `posix_spawn`: Foundation's `Process` has crashed in tests that start many programs beside many open sockets.
package struct ChildProcess: Sendable {
    /// Where one of its three streams comes from or goes.
    package enum Stream: Hashable, Sendable {
        case null
        /// Read from its beginning, or written over.
        case file(String)
        /// Written into a pipe that ``Running`` has the other end of. Not for what it reads.
        case pipe
    }

    /// It could not be started.
    package struct NotStarted: Error, CustomStringConvertible {
        package let program: String
        package let errno: Int32

        package var description: String { "\(program) cannot be started: errno \(errno)" }
    }

    /// The program's path, and its arguments.
    package var words: [String]
    /// All of it; nil for the tests' own.
    package var environment: [String: String]?
    package var folder: String?
    package var input = Stream.null
    package var output = Stream.null
    package var errors = Stream.null

    package init(_ words: [String]) { self.words = words }

    /// One start at a time: between the making of a pipe and its mark no other program may be started.
    private static let gate = Mutex(())

    /// Starts it, to its end or while the test goes on.
    package func start() throws(NotStarted) -> Running {
        let started = ChildProcess.gate.withLock { _ in Result { () throws(NotStarted) in try self.spawn() } }
        let running = try started.get()
        // Nobody need wait for it: of one that has ended and was not waited for, the tests of traps learn nothing else.
        running.whenEnded { _ in }
        return running
    }

    private func spawn() throws(NotStarted) -> Running {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // It blocks no signal, whatever this thread blocks: one of a dispatch queue blocks what would end the program. Nor does
        // it ignore those that whoever runs the tests may ignore.
        var (attributes, blocked, unignored) = (posix_spawnattr_t(), sigset_t(), sigset_t())
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe sigemptyset(&blocked)
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        unsafe sigemptyset(&unignored)
        for number in [SIGPIPE, SIGHUP] { unsafe sigaddset(&unignored, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &unignored)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let pipes = (output: output == .pipe ? try PipeEnds() : nil, errors: errors == .pipe ? try PipeEnds() : nil)
        unsafe add(input, STDIN_FILENO, O_RDONLY, nil, &actions)
        unsafe add(output, STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC, pipes.output, &actions)
        unsafe add(errors, STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC, pipes.errors, &actions)
        // The system's tool changes the folder and then becomes the program.
        let words = folder.map { ["/usr/bin/env", "-C", $0] + self.words } ?? self.words
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }
        var id = pid_t()
        // The texts live until the call has returned; posix_spawn copies what it keeps.
        let failure = unsafe withCStrings(words) { arguments in
            unsafe withCStrings(variables) { environment in
                unsafe posix_spawn(&id, words[0], &actions, &attributes, arguments, environment)
            }
        }
        // The writing ends are the program's alone, so that their end is seen.
        pipes.output?.closeWriting()
        pipes.errors?.closeWriting()
        guard failure == 0 else { throw NotStarted(program: words[0], errno: failure) }
        return Running(id, pipes.output?.reading, pipes.errors?.reading)
    }

    /// Both ends of a pipe that no program inherits by itself.
    private struct PipeEnds {
        let reading: FileHandle
        let writing: Int32

        init() throws(NotStarted) {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { throw NotStarted(program: "pipe", errno: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
            writing = ends[1]
        }

        func closeWriting() { close(writing) }
    }

    @unsafe
    private func add(
        _ stream: Stream,
        _ number: Int32,
        _ mode: Int32,
        _ pipe: PipeEnds?,
        _ actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .null: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .file(let path): unsafe posix_spawn_file_actions_addopen(&actions, number, path, mode, 0o600)
        case .pipe:
            guard let pipe else { return }
            unsafe posix_spawn_file_actions_adddup2(&actions, pipe.writing, number)
        }
    }
}

extension ChildProcess {
    /// A program that was started. Its end is waited for once, whoever asks.
    package final class Running: Sendable {
        package let id: pid_t
        /// What it says, if that was to be a pipe.
        package let output: FileHandle?
        package let errors: FileHandle?
        private let code = Mutex<Int32?>(nil)

        fileprivate init(_ id: pid_t, _ output: FileHandle?, _ errors: FileHandle?) {
            self.id = id
            self.output = output
            self.errors = errors
        }

        /// Blocks until it has ended.
        ///
        /// - Returns: its exit code, or the number of the signal that ended it, negative.
        @discardableResult
        package func waitUntilExit() -> Int32 {
            // Waited for without the lock, so that it can be ended in between; gone only under it.
            var seen = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(id), &seen, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            return code.withLock { code in
                if let code { return code }
                var status: Int32 = 0
                while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                let ended = signal == 0 ? status >> 8 & 0xFF : -signal
                code = ended
                return ended
            }
        }

        /// Calls `body` with its exit code, on a thread of its own.
        package func whenEnded(_ body: @escaping @Sendable (Int32) -> Void) {
            Thread.detachNewThread { [self] in body(waitUntilExit()) }
        }

        /// Asks it to end, and lets it go.
        package func terminate() { code.withLock { if $0 == nil { _ = kill(id, SIGTERM) } } }
    }
}

/// Lends texts as a C program wants them: an array of pointers that a null ends.
@unsafe
private func withCStrings<Value>(
    _ texts: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
) -> Value {
    var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("there is the null, at least") }
        return unsafe body(start)
    }
}
