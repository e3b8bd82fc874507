package import Storage
import Synchronization

/// One process's way to the store: other processes go first now and then, writes fail, and the process ends at any of
/// them. What was committed stays; a process that has ended reads and writes nothing more.
package final class Disk: Store {
    private let base: MemoryStore
    private let dice: Dice
    private let weather: Weather
    private let chronicle: Chronicle
    private let bug: PlantedBug?
    private let cut = Mutex(false)

    package init(over base: MemoryStore, dice: Dice, weather: Weather, chronicle: Chronicle, bug: PlantedBug?) {
        self.base = base
        self.dice = dice
        self.weather = weather
        self.chronicle = chronicle
        self.bug = bug
    }

    /// Whether the process has ended.
    package var isCut: Bool { cut.withLock { $0 } }

    package func end() { cut.withLock { $0 = true } }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        await letOthersGo()
        guard !isCut else { throw .closed }
        let body = planted(body)
        if weather.strikes(.busy) { throw .busy }
        if weather.strikes(.conflict) {
            try await runInVain(body)
            throw .conflict
        }
        if weather.strikes(.twice) { try await runInVain(body) }
        if weather.strikes(.deathBefore) { throw die("before") }
        let value = try await base.write(body)
        if weather.strikes(.deathAfter) { throw die("after") }
        await letOthersGo()
        guard !isCut else { throw .closed }
        return value
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        await letOthersGo()
        guard !isCut else { throw .closed }
        return try await base.read(body)
    }

    package func close() async { end() }

    /// Runs a write to its end and takes it back; what it throws by itself is thrown.
    private func runInVain<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) {
        let own = Failure()
        do throws(StoreFailure) {
            try await base.write { transaction throws(StoreFailure) in
                do throws(StoreFailure) { _ = try body(transaction) } catch { own.value.withLock { $0 = error } }
                throw .conflict
            }
        } catch {
            if let failure = own.value.withLock({ $0 }) { throw failure }
        }
    }

    private final class Failure: Sendable {
        let value = Mutex<StoreFailure?>(nil)
    }

    private func planted<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) -> @Sendable (any StoreTransaction) throws(StoreFailure) -> Value {
        guard let bug else { return body }
        return { [dice] transaction throws(StoreFailure) in try body(bug.transaction(over: transaction, dice)) }
    }

    private func letOthersGo() async {
        for _ in 0..<dice.below(3) { await Task.yield() }
    }

    private func die(_ place: String) -> StoreFailure {
        chronicle.note("a process ends \(place) a commit")
        end()
        return .closed
    }
}
