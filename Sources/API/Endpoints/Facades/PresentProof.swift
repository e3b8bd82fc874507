import Pipeline
import PurchaseModel
import Storage

/// A proof that comes in through another protocol: submitted like any other, and waited for, because those protocols know
/// no answer that says "later" and is a good one.
struct PresentProof: Sendable {
    enum Result {
        /// On disk, or genuine and without a purchase in it.
        case accepted(PresentedPurchase)
        /// - Parameters:
        ///   - verdict: `forged`, `malformed`, `not_yours` or `test_signed`.
        ///   - reason: as much as the sender may know.
        case refused(verdict: String, reason: String?)
        /// Good, and without anything that could be recorded: no purchase can stand in this.
        case holdsNothing
        case later(Duration)
        /// Not kept: too many wait already.
        case full(Full, Duration)
    }

    enum Full {
        case app
        case customer
    }

    /// Below the patience of clients (20 s) and of proxies.
    private static let patience = Duration.seconds(8)
    /// What is not decided by then takes as long as Apple is away.
    private static let retryAfter = Duration.seconds(30)

    let pipeline: PurchasePipeline
    let waits: SubmissionWait

    /// - Parameters:
    ///   - submission: the proof.
    ///   - beside: what else of its customer's is told, if it is accepted.
    /// - Returns: what became of it.
    /// - Throws: what the ledger throws.
    func present(
        _ submission: Submission,
        beside: RestOfCustomer.Wish = .nothing
    ) async throws(StoreFailure) -> Result {
        let outcome = try await pipeline.submit(submission)
        if outcome.isUndecided, pipeline.isEmptyReceipt(submission) {
            return .accepted(try await pipeline.presented(submission))
        }
        switch outcome {
        case .recorded: return .accepted(try await pipeline.presented(submission, beside: beside))
        case .nothingToRecord: return .holdsNothing
        case .refused(let refused): return .refused(verdict: refused.verdict, reason: refused.publicReason)
        case .busy(let retryAfter): return .full(.app, retryAfter)
        case .customerBusy(let retryAfter): return .full(.customer, retryAfter)
        case .pending(let id):
            let found = try await waits.submission(id, of: submission.app.id, patience: Self.patience)
            guard let settlement = found?.settlement, settlement.verdict != Settlement.givenUp else {
                return .later(Self.retryAfter)
            }
            guard submission.app.accepts(settlement) else {
                return .refused(verdict: settlement.verdict, reason: nil)
            }
            return .accepted(try await pipeline.presented(submission, beside: beside))
        }
    }

    /// Which store a refused proof says that it is from.
    func claimedEnvironment(of bytes: [UInt8]) -> StoreEnvironment? { pipeline.claimedEnvironment(of: bytes) }
}

extension Outcome {
    /// Whether it waits, or would if there were a place for it.
    fileprivate var isUndecided: Bool {
        switch self {
        case .pending, .busy, .customerBusy: true
        case .recorded, .nothingToRecord, .refused: false
        }
    }
}
