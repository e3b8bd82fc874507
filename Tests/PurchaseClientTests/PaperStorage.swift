import PurchaseClient
import Synchronization

/// A disk on which power fails: what was not synchronised may be there, in part, or not at all.
final class PaperDisk: Sendable {
    enum Blow: Sendable { case dies, isFull, fails }

    private struct File {
        var durable: [UInt8] = []
        var loose: [UInt8] = []
        var all: [UInt8] { durable + loose }
    }

    private struct State {
        var first: File?
        var second: File?
        /// What was in the first one's place, while a move is not durable.
        var moved: File??
        var isDead = false
        var calls = 0
    }

    private let state = Mutex(State())
    private let chance: Chance
    /// Asked before each call.
    private let blow: @Sendable (_ call: Int) -> Blow?

    init(_ chance: Chance, blow: @escaping @Sendable (_ call: Int) -> Blow? = { _ in nil }) {
        self.chance = chance
        self.blow = blow
    }

    var calls: Int { state.withLock { $0.calls } }
    var bytes: [UInt8] { state.withLock { $0.first?.all ?? [] } }

    /// Whoever uses the disk now reaches it no more.
    func die() { state.withLock { $0.isDead = true } }

    var isDead: Bool { state.withLock { $0.isDead } }

    /// The process has ended, and perhaps the power has failed; what starts now finds this.
    func restart(powerFails: Bool) {
        state.withLock { state in
            state.isDead = false
            guard powerFails else { return }
            if let moved = state.moved, chance.happens(oneIn: 2) { state.first = moved }
            state.moved = nil
            if var file = state.first {
                file.durable += file.loose.prefix(chance.below(file.loose.count + 1))
                file.loose = []
                state.first = file
            }
            state.second = nil
        }
    }

    private func call(
        _ taken: [UInt8] = [],
        _ body: (inout State, _ taken: [UInt8]) -> Void
    ) throws(OutboxFault) {
        let fault = state.withLock { state -> OutboxFault? in
            state.calls += 1
            guard !state.isDead else { return .system(-1) }
            let part = Array(taken.prefix(chance.below(taken.count + 1)))
            switch blow(state.calls) {
            case nil:
                body(&state, taken)
                return nil
            case .dies:
                // In the middle of it.
                if !taken.isEmpty { body(&state, part) }
                state.isDead = true
                return .system(-1)
            case .isFull where !taken.isEmpty:
                body(&state, part)
                return .diskFull
            case .isFull:
                body(&state, taken)
                return nil
            case .fails:
                if !taken.isEmpty { body(&state, part) }
                return .system(5)
            }
        }
        if let fault { throw fault }
    }

    /// The disk as one process has it.
    final class Storage: JournalStorage {
        private let disk: PaperDisk

        init(_ disk: PaperDisk) { self.disk = disk }

        func read() throws(OutboxFault) -> [UInt8] { disk.bytes }

        func append(_ bytes: [UInt8]) throws(OutboxFault) {
            try disk.call(bytes) { state, taken in state.first?.loose += taken }
        }

        func synchronize() throws(OutboxFault) {
            try disk.call { state, _ in
                state.first = state.first.map { File(durable: $0.all) }
            }
        }

        func writeSecond(_ bytes: [UInt8]) throws(OutboxFault) {
            // Whole it is durable: the call synchronises it.
            try disk.call(bytes) { state, taken in state.second = File(durable: taken) }
        }

        func replaceBySecond() throws(OutboxFault) {
            try disk.call { state, _ in
                if state.moved == nil { state.moved = .some(state.first) }
                state.first = state.second
                state.second = nil
            }
        }

        func synchronizeFolder() throws(OutboxFault) {
            try disk.call { state, _ in state.moved = nil }
        }
    }
}
