import Dispatch
import Glibc
import Synchronization

/// Hears SIGTERM and SIGINT: each asks for a graceful stop.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let heard: Heard

    private final class Heard: Sendable {
        let isSo = Atomic(false)
    }

    /// Returns when it hears: until then a signal ends the process at once, and after that none is lost.
    init(_ stop: @escaping @Sendable () -> Void) async {
        await self.init([SIGTERM, SIGINT], each: { _ in stop() })
    }

    /// For a command that would leave behind what is of no use: that is discarded, and then the signal ends the process as it
    /// ends any other. SIGHUP of a terminal that closes is heard, too, unless `nohup` has it ignored.
    static func discarding(_ discard: @escaping @Sendable () -> Void) async -> StopSignals {
        let numbers = [SIGTERM, SIGINT, SIGHUP].filter { $0 != SIGHUP || !SignalledEnd.isIgnored($0) }
        return await StopSignals(
            numbers,
            each: { number in
                discard()
                SignalledEnd.now(by: number)
            }
        )
    }

    private init(_ numbers: [Int32], each hear: @escaping @Sendable (Int32) -> Void) async {
        let heard = Heard()
        // To be ignored for a while first, as is the custom elsewhere, would lose what comes in that while. On Linux the
        // source puts a handler of its own in the place of the default.
        let sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                heard.isSo.store(true, ordering: .sequentiallyConsistent)
                hear(number)
            }
            return source
        }
        for source in sources {
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
        self.sources = sources
        self.heard = heard
    }

    /// Waits for the end of the process if a signal is ending it: what fails by now fails because all was discarded.
    func endIfHeard() {
        while heard.isSo.load(ordering: .sequentiallyConsistent) { pause() }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
