import Glibc

/// Standard input, output and error, where whoever started the program has closed one of them, or what it writes to.
enum StandardStreams {
    /// Makes it a fault of a write that the reader of a pipe or a connection has gone. Otherwise SIGPIPE ends the program
    /// in the middle of what it does, without a word, and leaves what it was to remove. To be called before anything is
    /// written.
    static func ignorePipes() { signal(SIGPIPE, SIG_IGN) }

    /// Puts something in the place of each that is closed: otherwise what is opened next has it, a file of the ledger, say, or
    /// the line to a server, and what is written to standard output goes there. To be called before anything is opened.
    ///
    /// What stands there then can be neither read, as standard input, nor written, as standard output: whoever asks for a
    /// command that needs them is told. What is said on standard error is lost.
    static func fill() {
        for (descriptor, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest that is free is taken, and those below are open by now. The path is a constant.
            _ = unsafe open("/dev/null", flags)
        }
    }
}
