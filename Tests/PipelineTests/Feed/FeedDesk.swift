import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// A live feed over a store that counts its readings, with a clock and a tick that the test moves.
final class FeedDesk: Sendable {
    static let production = Realm(environment: .production, isTestSigned: false)
    static let sandbox = Realm(environment: .sandbox, isTestSigned: false)

    let store = CountingStore()
    let failures = Noted<StoreFailure>()
    private let now = Mutex(Duration.zero)
    private let ticks: AsyncStream<Void>
    private let ticker: AsyncStream<Void>.Continuation

    init() {
        (ticks, ticker) = AsyncStream.makeStream(of: Void.self)
    }

    /// Runs the feed's reader while `body` runs.
    func open<Value: Sendable>(_ body: (LiveFeed) async throws -> Value) async throws -> Value {
        let feed = LiveFeed(store: store, uptime: { [self] in now.withLock { $0 } }) { [failures] in
            failures.note($0)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [ticks] in
                await feed.run {
                    var iterator = ticks.makeAsyncIterator()
                    return await iterator.next() != nil
                }
            }
            defer { ticker.finish() }
            return try await body(feed)
        }
    }

    /// Lets time pass, and says so.
    func advance(by duration: Duration = .zero) {
        now.withLock { $0 += duration }
        ticker.yield()
    }

    /// One customer's events, numbered on.
    static func event(
        _ number: Int64,
        app: String = "demo",
        realm: Realm = production,
        type: String = "order.paid",
        data: String = "{}"
    ) throws -> EventRow {
        let name = app + (realm == production ? "p" : "s") + String(number)
        let text = name.utf8.map { String($0, radix: 16) }.joined()
        return EventRow(
            id: try #require(EventID(EventID.prefix + String(repeating: "0", count: 32 - text.utf8.count) + text)),
            app: try #require(AppID(app)),
            realm: realm,
            customer: nil,
            sequence: number,
            type: type,
            happenedAt: Timestamp(milliseconds: number),
            learnedAt: Timestamp(milliseconds: number),
            data: Array(data.utf8)
        )
    }

    func append(_ numbers: ClosedRange<Int64>, realm: Realm = production, type: String = "order.paid") async throws {
        let rows = try numbers.map { try FeedDesk.event($0, realm: realm, type: type) }
        try await append(rows)
    }

    func append(_ rows: [EventRow]) async throws {
        try await store.write { transaction throws(StoreFailure) in try transaction.append(rows) }
    }
}

/// A store whose readings are counted and can be made to fail.
final class CountingStore: Store {
    private let base = MemoryStore()
    private let state = Mutex<(reads: Int, failure: StoreFailure?)>((0, nil))

    var reads: Int { state.withLock { $0.reads } }

    /// From now on every reading fails, until there is nothing to fail with.
    func fail(with failure: StoreFailure?) { state.withLock { $0.failure = failure } }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let failure = state.withLock { state in
            state.reads += 1
            return state.failure
        }
        if let failure { throw failure }
        return try await base.read(body)
    }

    func close() async { await base.close() }
}
