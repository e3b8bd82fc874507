import Synchronization

/// The time that a house's streams go by: it passes when a test says so.
final class FeedPace: Sendable {
    private let passed = Mutex(Duration.zero)
    private let ticks: AsyncStream<Void>
    private let ticker: AsyncStream<Void>.Continuation

    init() {
        (ticks, ticker) = AsyncStream.makeStream(of: Void.self)
    }

    var uptime: Duration { passed.withLock { $0 } }

    func advance(by duration: Duration = .zero) {
        passed.withLock { $0 += duration }
        ticker.yield()
    }

    func end() { ticker.finish() }

    /// False at the end.
    func tick() async -> Bool {
        var iterator = ticks.makeAsyncIterator()
        return await iterator.next() != nil
    }
}
