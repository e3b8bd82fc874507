import Glibc

/// How a process ends that has heard a signal, and has nothing left to do.
enum SignalledEnd {
    /// Ends it by the signal, as if nobody had heard it: whoever waits for it sees so.
    static func now(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        // To this thread, which as one of a dispatch queue has it blocked: sent to the process, the queue may read it as one
        // more that it hears. The set lives until the calls return.
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }
    /// Whether the process was started with a signal ignored, as `nohup` does.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        // It is written before the call returns. Both handlers are only compared, as the numbers that stand in their place.
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe action.__sigaction_handler.sa_handler
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
