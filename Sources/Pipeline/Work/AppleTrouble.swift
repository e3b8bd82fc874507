import AppStore
import Jobs
import PurchaseModel

/// What a job does when Apple gave nothing that counts.
enum AppleTrouble {
    /// Until a person has changed something: long enough not to ask in vain, short enough not to be forgotten.
    private static let untilChanged = Duration.seconds(3_600)

    /// - Parameters:
    ///   - failure: what came instead of an answer.
    ///   - now: the moment.
    /// - Returns: when the job runs again; `nil` when Apple said that there is nothing to be had.
    static func outcome(of failure: AppStoreFailure, at now: Timestamp) -> JobOutcome? {
        switch failure.remedy {
        case .retry: .failed(because: word(failure))
        case .retryAfter(let moment): .failed(because: word(failure), notWithin: now.duration(to: moment))
        case .change: .again(after: untilChanged, because: word(failure))
        case .giveUp: nil
        }
    }

    /// The same where nobody has proved the number that was asked about: Apple never knows one that is none of a transaction's.
    static func outcome(ofNumber failure: AppStoreFailure, at now: Timestamp) -> JobOutcome? {
        if case .refused(let code) = failure, AppleErrorCode.noTransactionID.contains(code) { return nil }
        return outcome(of: failure, at: now)
    }

    /// The same of verifyReceipt.
    static func outcome(of trouble: ReceiptTrouble, retryAt: Timestamp?, at now: Timestamp) -> JobOutcome {
        if case .noAnswer(let failure) = trouble, let outcome = outcome(of: failure, at: now) { return outcome }
        return .failed(because: "\(trouble)", notWithin: retryAt.map { now.duration(to: $0) } ?? .zero)
    }

    /// Where this server cannot ask about an app or a store. Another one may, or the key comes back with the next configuration:
    /// what nobody could ask for so long is wanted no more. It is tried ever more seldom, and once a day.
    ///
    /// - Parameters:
    ///   - asked: since when it waits.
    ///   - patience: for how long it may.
    ///   - now: the moment.
    /// - Returns: when the job runs again; `nil` when it has waited for too long.
    static func withoutKey(
        since asked: Timestamp,
        within patience: Duration = .seconds(86_400),
        at now: Timestamp
    ) -> JobOutcome? {
        let waited = asked.duration(to: now)
        guard waited < patience else { return nil }
        return .again(after: min(max(waited / 6, .seconds(4 * 3_600)), .seconds(86_400)), because: noKey)
    }

    static let noKey = "this server has no key for it"

    /// A wrong shared secret: nothing is known of the receipt.
    static var wrongSecret: JobOutcome { .again(after: untilChanged, because: "the shared secret is missing or wrong") }

    private static func word(_ failure: AppStoreFailure) -> String { "Apple: \(failure)" }
}
