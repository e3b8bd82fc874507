import Foundation
import Storage
import Synchronization
import TestSupport

/// Stores on the server of ``TestDatabase``.
enum PostgreSQLServer {
    /// Each test has a schema of its own; more at once would only wait for the server's processors.
    private static let places = Places(count: 12)

    /// Whether the suite runs as on a database that knows less: every write may be turned back (serializable, and one
    /// statement in a hundred fails with 40001), nothing is kept in a session, and nothing that is locked is passed over.
    /// Advisory locks and `NOTIFY` are never used.
    static let isPortable = ProcessInfo.processInfo.environment["ASSAY_TEST_PORTABLE"] != nil

    /// An empty schema, removed after the test.
    static func withSchema<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        await places.take()
        let schema = TestDatabase.freshName()
        let result: Result<Value, any Error>
        do { result = .success(try await body(schema)) } catch { result = .failure(error) }
        _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE")
        await places.giveBack()
        return try result.get()
    }

    static func settings(
        schema: String,
        url: String? = TestDatabase.url,
        _ change: (inout PostgreSQLSettings) -> Void = { _ in }
    ) throws -> PostgreSQLSettings {
        guard let url,
            var settings = PostgreSQLSettings(url: url, schema: schema, pause: { try? await Task.sleep(for: $0) })
        else { throw TestDatabase.Missing() }
        settings.readers = 1
        settings.leaseClock = .callers
        if isPortable {
            let luck = Luck()
            settings.isolation = .serializable
            settings.isPooled = true
            settings.skipsLocked = false
            settings.faults = { moment in luck.isOut(at: moment) }
        }
        change(&settings)
        return settings
    }

    /// The same, and the sessions can be found by the schema's name.
    static func namedSettings(
        schema: String,
        _ change: (inout PostgreSQLSettings) -> Void = { _ in }
    ) throws -> PostgreSQLSettings {
        try settings(schema: schema) { settings in
            settings.url += "?application_name=\(schema)"
            change(&settings)
        }
    }

    /// Opens an empty store, hands it over, closes it and removes its tables.
    static func withStore<Value>(
        url: String? = TestDatabase.url,
        _ change: (inout PostgreSQLSettings) -> Void = { _ in },
        _ body: (PostgreSQLStore) async throws -> Value
    ) async throws -> Value {
        try await withSchema { schema in
            let store = try await PostgreSQLStore.open(settings(schema: schema, url: url, change))
            let result: Result<Value, any Error>
            do { result = .success(try await body(store)) } catch { result = .failure(error) }
            await store.close()
            return try result.get()
        }
    }
}

/// Turns a statement in a hundred back; after three in a row, none before the next commit. A write of a hundred
/// statements that is turned back whenever chance wills would never end, and no database does that.
private final class Luck: Sendable {
    private struct State {
        var random = SeededRandom(seed: 40_001)
        var sinceCommit = 0
    }

    private let state = Mutex(State())

    func isOut(at moment: PostgreSQLSettings.Moment) -> Bool {
        state.withLock { state in
            guard moment == .statement else {
                state.sinceCommit = 0
                return false
            }
            guard state.sinceCommit < 3, Int.random(in: 0..<100, using: &state.random) == 0 else { return false }
            state.sinceCommit += 1
            return true
        }
    }
}

/// So many at a time; the others wait their turn.
private actor Places {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { free = count }

    func take() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

/// Chance that several threads share; by its seed, but in the order in which they ask.
final class SharedRandom: Sendable {
    private let random: Mutex<SeededRandom>

    init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

    func happens(oneIn count: Int) -> Bool { random.withLock { Int.random(in: 0..<count, using: &$0) == 0 } }
}

/// True the first time that it is asked.
final class Once: Sendable {
    private let isOver = Atomic(false)

    func callAsFunction() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}

/// How often something happened.
final class Counter: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }

    func add() { number.add(1, ordering: .relaxed) }
}
