package import HTTP
package import PurchaseModel
import Synchronization

/// The one way to Apple's servers, which everything in a process shares.
///
/// It never waits: a request that must not be sent now fails at once with the moment from which it may, so that a job can
/// be put off till then and no worker stands in a queue.
package final class AppleLine: Sendable {
    private let caller: HTTPCaller
    private let clock: any WallClock
    private let report: @Sendable (AppStoreEvent) -> Void
    private let calm: Mutex<Calm>

    /// - Parameters:
    ///   - caller: sends. It must follow no redirect: an answer's host is what vouches for it.
    ///   - clock: by which budgets fill and rests end.
    ///   - share: what of Apple's limits is this process's.
    ///   - report: hears what happened.
    package init(
        caller: HTTPCaller,
        clock: any WallClock,
        share: RequestBudget.Share = RequestBudget.Share(),
        report: @escaping @Sendable (AppStoreEvent) -> Void = { _ in }
    ) {
        self.caller = caller
        self.clock = clock
        self.report = report
        calm = Mutex(Calm(share: share))
    }

    /// Whether what this lane needs does not answer: who can wait, waits.
    package func isResting(_ lane: AppleLane, at url: String) -> Bool {
        let host = AppleLine.host(of: url)
        return calm.withLock { $0.rests(lane, host) }
    }

    /// Whether an app's key was answered so often with 401 that nothing is sent with it for a while.
    func keyRests(of app: BundleID, in store: StoreEnvironment) -> Bool {
        calm.withLock { $0.rests(AppleLane.Owner(app: app, store: store)) }
    }

    package var now: Timestamp { clock.now }

    package func tell(_ event: AppStoreEvent) { report(event) }

    /// Sends one request and reads its answer.
    ///
    /// - Parameters:
    ///   - call: what is sent.
    ///   - lane: whose limit it counts against.
    ///   - urgency: whether somebody waits for it.
    ///   - read: makes something of the answer, or says that it is none. 429 does not come here.
    /// - Returns: what `read` made.
    /// - Throws: ``AppStoreFailure``.
    package func send<Value: Sendable>(
        _ call: HTTPCall,
        on lane: AppleLane,
        for urgency: AppleUrgency = .awaited,
        read: (ReceivedAnswer) throws(AppStoreFailure) -> Value
    ) async throws(AppStoreFailure) -> Value {
        let host = AppleLine.host(of: call.url)
        let sentAt = clock.now
        if let hold = calm.withLock({ $0.take(lane, host, for: urgency, at: sentAt) }) { throw held(hold, lane) }
        do throws(AppStoreFailure) {
            let response = try await answer(to: call)
            let answer = ReceivedAnswer(response: response, sentAt: sentAt, receivedAt: clock.now)
            if response.status == .tooManyRequests { throw throttled(answer, lane) }
            let value = try read(answer)
            note(.good, lane, host)
            report(.answered(lane, response.status, duration: sentAt.duration(to: clock.now)))
            return value
        } catch {
            note(AppleLine.word(error), lane, host)
            report(.failed(lane, error, duration: sentAt.duration(to: clock.now)))
            throw error
        }
    }

    private func held(_ hold: Calm.Hold, _ lane: AppleLane) -> AppStoreFailure {
        switch hold {
        case .budget(let until):
            report(.heldBack(lane, until: until))
            return .throttled(until: until)
        case .rest(let until):
            report(.heldBack(lane, until: until))
            return .resting(until: until)
        }
    }

    private func note(_ word: Calm.Word, _ lane: AppleLane, _ host: String) {
        let now = clock.now
        let (rests, hasRecovered) = calm.withLock { $0.note(word, lane, host, at: now) }
        if let rests { report(.resting(lane, until: rests)) }
        if hasRecovered { report(.recovered(lane)) }
    }

    /// An error of Apple's API, even a refusal, is an answer: the host and the key are well.
    private static func word(_ failure: AppStoreFailure) -> Calm.Word {
        if failure.isOutage { return .hostFails }
        switch failure {
        case .unauthorized: return .keyFails
        case .throttled, .unreachable: return .nothing
        default: return .good
        }
    }

    /// The part of a URL before its path.
    private static func host(of url: String) -> String {
        var slashes = 0
        let end = url.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3
        }
        return String(url[..<(end ?? url.endIndex)])
    }

    private func answer(to call: HTTPCall) async throws(AppStoreFailure) -> HTTPResponse {
        do throws(HTTPCallFailure) {
            let response = try await caller.send(call)
            // A handler in this process says so when it hangs up.
            guard (200...599).contains(response.status.rawValue) else { throw HTTPCallFailure.noResponse }
            return response
        } catch {
            throw .unreachable(error)
        }
    }

    private func throttled(_ answer: ReceivedAnswer, _ lane: AppleLane) -> AppStoreFailure {
        let now = answer.receivedAt
        let told = answer.response.fields["Retry-After"].flatMap { RetryAfter.moment($0, at: now) }
        let moment = told ?? now.advanced(by: AppleLine.pauseWithoutWord)
        let until = calm.withLock { $0.block(lane, until: moment, at: now) }
        report(.throttled(lane, until: until))
        return .throttled(until: until)
    }

    /// After a 429 that does not say until when.
    private static let pauseWithoutWord = Duration.seconds(60)
}

/// An answer, and when it was asked for.
package struct ReceivedAnswer: Sendable {
    package let response: HTTPResponse
    package let sentAt: Timestamp
    package let receivedAt: Timestamp

    /// What Apple's clock showed when it answered, to the second.
    package var date: Timestamp? {
        response.fields["Date"].flatMap { HTTPDate.milliseconds($0, at: receivedAt.milliseconds) }
            .map(Timestamp.init(milliseconds:))
    }

    /// No later than Apple looked into its books, by Apple's clock where the answer shows it.
    package var askedAt: Timestamp {
        guard let date else { return sentAt }
        return date.advanced(by: .zero - max(.zero, sentAt.duration(to: receivedAt)))
    }
}
