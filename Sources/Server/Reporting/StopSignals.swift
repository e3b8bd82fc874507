import Dispatch
import Glibc

/// Hears SIGTERM and SIGINT: each asks for a graceful stop. A reader of the log that has gone ends nothing.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]

    /// Returns when it hears: until then a signal ends the process at once, and after that none is lost.
    init(_ stop: @escaping @Sendable () -> Void) async {
        // To be ignored for a while first, as is the custom elsewhere, would lose what comes in that while. On Linux the
        // source puts a handler of its own in the place of the default.
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: stop)
            return source
        }
        for source in sources {
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
        self.sources = sources
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
