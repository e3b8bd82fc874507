package import Crypto
package import HTTP
package import PurchaseModel
import Synchronization

/// Tells merchants' servers what happened in the store, as Apple does: in order, again after a failure, every attempt
/// noted. Moments are the store's.
///
/// Driven: move the store, then ``deliverDue()``. Running: ``run(pause:)``, which does the same again and again.
package final class NoticeSender: Sendable {
    private let simulator: AppStoreSimulator
    private let signer: PreparedSigner
    private let caller: HTTPCaller
    private let disturbance: @Sendable (NoticeMessage, _ attempt: Int) -> Disturbance
    private let state = Mutex(State())

    private struct State {
        /// How many of the store's notices were taken.
        var taken = 0
        /// By number, from ``first`` on.
        var messages: [NoticeMessage] = []
        var first = 0
        var queue = AttemptQueue()
        /// How many attempts are being made, by whichever call.
        var underway = 0
        /// Who waits until one of them has ended.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0
    }

    /// What there is to do next.
    private enum Step {
        case attempt(PlannedAttempt)
        /// Others make attempts, which may fail and be due again.
        case wait
        case done
    }

    /// As many messages are remembered; an old one that still waits is remembered, too. Each is about 20 KB.
    private static let messagesMax = 20_000

    /// - Parameters:
    ///   - simulator: whose notices are sent.
    ///   - caller: posts them.
    ///   - disturbance: asked once for each attempt, when it is planned; it gets the attempt's number, 1 for the first.
    /// - Throws: `CryptoError` when the authority cannot sign.
    package init(
        _ simulator: AppStoreSimulator,
        caller: HTTPCaller,
        disturbance: @escaping @Sendable (NoticeMessage, _ attempt: Int) -> Disturbance = { _, _ in .none }
    ) throws(CryptoError) {
        self.simulator = simulator
        self.caller = caller
        self.disturbance = disturbance
        signer = try PreparedSigner(simulator.authority.chain(.jws))
    }

    /// Makes every attempt that is due in the store's time, one after the other, oldest first; also those that become
    /// due by what fails here. Safe to call while another call runs: no attempt is made twice, and what the other one is
    /// making is waited for. So whoever is told must not wait for such a call while answering.
    package func deliverDue() async {
        while !Task.isCancelled {
            takeNotices()
            switch nextStep(at: simulator.now) {
            case .attempt(let planned):
                let isMade = await attempt(planned)
                endAttempt()
                guard isMade else { return }
            case .wait: await someAttempt()
            case .done: return
            }
        }
    }

    private func nextStep(at now: Timestamp) -> Step {
        state.withLock { state in
            if let planned = state.queue.take(until: now) {
                state.underway += 1
                return .attempt(planned)
            }
            return state.underway > 0 ? .wait : .done
        }
    }

    private func endAttempt() {
        let waiting = state.withLock { state in
            state.underway -= 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Returns when an attempt under way has ended, or the task is cancelled.
    private func someAttempt() async {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.underway > 0, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Delivers what is due again and again, until the task is cancelled or `pause` says false.
    package func run(pause: @Sendable () async -> Bool) async {
        while !Task.isCancelled {
            await deliverDue()
            guard await pause() else { return }
        }
    }

    // MARK: What was sent

    /// All messages that are remembered, in the order in which they were made.
    package var messages: [NoticeMessage] { state.withLock(\.messages) }

    /// When the next attempt is due.
    package var nextAttemptAt: Timestamp? {
        state.withLock(\.queue.first?.at)
    }

    /// The notifications of version 2 for whoever answers about them.
    package var sentNotices: SentNotices {
        SentNotices(
            all: { [self] app, environment in
                // Filtered while it is locked: a copy of the list that outlives this makes the next message copy it.
                state.withLock { state in
                    state.messages.lazy.filter { $0.notice.app == app && $0.notice.environment == environment }
                        .compactMap(\.sent)
                }
            },
            one: { [self] app, environment, uuid in
                state.withLock { state in
                    state.messages.last {
                        $0.notice.uuid == uuid && $0.notice.app == app && $0.notice.environment == environment
                    }?.sent
                }
            }
        )
    }

    // MARK: Making messages

    /// What is to be made of one notice.
    private enum Draft {
        case signed(StoreNotice, NoticePayload)
        case plain(StoreNotice, OldNotice)
    }

    /// Signs what is new in the store, once and for all attempts.
    private func takeNotices() {
        state.withLock { state in
            let (drafts, count) = simulator.read { [taken = state.taken] store in
                (store.notices.dropFirst(taken).flatMap { Self.drafts(of: $0, in: store) }, store.notices.count)
            }
            state.taken = count
            for draft in drafts {
                guard let message = message(draft, number: state.first + state.messages.count) else { continue }
                state.messages.append(message)
                plan(message, attempt: 1, at: message.notice.at, &state)
            }
            forget(&state)
        }
    }

    private static func drafts(of notice: StoreNotice, in store: SimulatedStore) -> [Draft] {
        guard let target = store.apps[notice.app]?.notifications(in: notice.environment) else { return [] }
        // A test is of version 2, whatever is set.
        if target.version == .two || notice.type == .test {
            return NoticePayload(notice, in: store).map { [.signed(notice, $0)] } ?? []
        }
        return OldNotice.all(of: notice, in: store).map { .plain(notice, $0) }
    }

    private func message(_ draft: Draft, number: Int) -> NoticeMessage? {
        do throws(CryptoError) {
            switch draft {
            case .signed(let notice, let payload):
                let content = NoticeMessage.Content.signed(try payload.signed(by: signer))
                return NoticeMessage(number: number, notice: notice, type: notice.type.rawValue, content: content)
            case .plain(let notice, let old):
                let content = NoticeMessage.Content.plain(try old.body(signedBy: simulator.authority))
                return NoticeMessage(number: number, notice: notice, type: old.kind.rawValue, content: content)
            }
        } catch {
            // The keys signed when this was made; a library that fails in between leaves a gap, as Apple's may.
            return nil
        }
    }

    /// Forgets the oldest that are done with, many at a time, for each time moves all that stay.
    private func forget(_ state: inout State) {
        let portion = Self.messagesMax / 10
        guard state.messages.count > Self.messagesMax, state.messages[portion - 1].nextAttemptAt == nil,
            state.messages.prefix(portion).allSatisfy({ $0.nextAttemptAt == nil })
        else { return }
        state.messages.removeFirst(portion)
        state.first += portion
    }

    // MARK: Attempts

    private func plan(_ message: NoticeMessage, attempt: Int, at due: Timestamp, _ state: inout State) {
        let disturbance = disturbance(message, attempt)
        guard disturbance.loss != .message else {
            state.messages[message.number - state.first].isLost = message.attempts.isEmpty
            return
        }
        let at = due.advanced(by: disturbance.delay)
        state.messages[message.number - state.first].nextAttemptAt = at
        state.queue.insert(
            PlannedAttempt(at: at, number: message.number, attempt: attempt, disturbance: disturbance)
        )
    }

    /// False when the call was cancelled: then nobody knows whether it arrived, and it is still to be sent.
    private func attempt(_ planned: PlannedAttempt) async -> Bool {
        let message = state.withLock { $0.messages[planned.number - $0.first] }
        let notice = message.notice
        let target = simulator.read { $0.apps[notice.app]?.notifications(in: notice.environment) }
        guard let target else {
            // Nobody wants to know any more.
            state.withLock { $0.messages[planned.number - $0.first].nextAttemptAt = nil }
            return true
        }
        let result = await post(message.call(to: target.url), planned.disturbance)
        guard let result else {
            state.withLock { $0.queue.insert(planned) }
            return false
        }
        state.withLock { state in
            let attempt = SentNotice.Attempt(at: planned.at, result: result)
            state.messages[planned.number - state.first].attempts.append(attempt)
            state.messages[planned.number - state.first].nextAttemptAt = nil
            guard result != .success,
                let delay = RetrySchedule.delay(after: planned.attempt, message.version, notice.environment)
            else { return }
            let told = state.messages[planned.number - state.first]
            plan(told, attempt: planned.attempt + 1, at: planned.at.advanced(by: delay), &state)
        }
        return true
    }

    /// `nil` when the call was cancelled before there was an answer.
    private func post(_ call: HTTPCall, _ disturbance: Disturbance) async -> SentNotice.Result? {
        guard disturbance.loss == .none else { return .timedOut }
        var first: SentNotice.Result?
        for _ in 0..<max(1, disturbance.copies) {
            let result: SentNotice.Result
            do throws(HTTPCallFailure) {
                result = SentNotice.Result(try await caller.send(call))
            } catch {
                guard error != .cancelled else { return first }
                result = SentNotice.Result(error)
            }
            first = first ?? result
        }
        return first
    }
}
