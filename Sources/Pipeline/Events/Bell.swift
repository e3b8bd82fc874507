import Synchronization

/// Wakes one loop. Rings that come while it is at work are one.
final class Bell: Sendable {
    private let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// Rings once by itself. Who called before hears nothing more.
    func rings() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.withLock { $0 = continuation }
        continuation.yield()
        return stream
    }

    func ring() {
        _ = listener.withLock { $0?.yield() }
    }

    /// Ends the loop.
    func finish() {
        listener.withLock { $0?.finish() }
    }
}
