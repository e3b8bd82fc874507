package import HTTP
package import PurchaseModel

/// The one way to Apple's servers, which everything in a process shares.
///
/// It never waits: a request that must not be sent now fails at once with the moment from which it may, so that a job can
/// be put off till then and no worker stands in a queue.
package final class AppleLine: Sendable {
    private let caller: HTTPCaller
    private let clock: any WallClock
    private let report: @Sendable (AppStoreEvent) -> Void

    package init(
        caller: HTTPCaller,
        clock: any WallClock,
        report: @escaping @Sendable (AppStoreEvent) -> Void = { _ in }
    ) {
        self.caller = caller
        self.clock = clock
        self.report = report
    }

    package var now: Timestamp { clock.now }

    package func tell(_ event: AppStoreEvent) { report(event) }

    /// Sends one request and reads its answer.
    ///
    /// - Parameters:
    ///   - call: what is sent.
    ///   - lane: whose limit it counts against.
    ///   - read: makes something of the answer, or says that it is none. 429 does not come here.
    /// - Returns: what `read` made.
    /// - Throws: ``AppStoreFailure``.
    package func send<Value: Sendable>(
        _ call: HTTPCall,
        on lane: AppleLane,
        read: (ReceivedAnswer) throws(AppStoreFailure) -> Value
    ) async throws(AppStoreFailure) -> Value {
        let sentAt = clock.now
        do throws(AppStoreFailure) {
            let response = try await answer(to: call)
            let answer = ReceivedAnswer(response: response, sentAt: sentAt, receivedAt: clock.now)
            if response.status == .tooManyRequests { throw throttled(answer, lane) }
            let value = try read(answer)
            report(.answered(lane, response.status, duration: sentAt.duration(to: clock.now)))
            return value
        } catch {
            report(.failed(lane, error, duration: sentAt.duration(to: clock.now)))
            throw error
        }
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
        let until = told ?? now.advanced(by: AppleLine.pauseWithoutWord)
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
