package import PurchaseModel
package import Storage
import Verification

/// Looks again at what could not be decided when it came: a certificate may have been added since.
///
/// It runs once at the start of the process, because what the bytes alone decide can only change with the
/// configuration, and that is read then. What only the configuration refuses stays open for the same reason: a slip in
/// it must not end a purchase that a customer was told to wait for.
package struct PendingReview: Sendable {
    private let pipeline: PurchasePipeline
    private let store: any Store
    private let apps: [AppPolicy]
    private let clock: any WallClock

    package init(pipeline: PurchasePipeline, store: any Store, apps: [AppPolicy], clock: any WallClock) {
        self.pipeline = pipeline
        self.store = store
        self.apps = apps
        self.clock = clock
    }

    /// Goes through all that waits, oldest first, a page at a time. Ends early when its task is cancelled or the store
    /// fails: the next start begins again. What stays undecided is not written again.
    package func run() async {
        for app in apps {
            guard (try? await pipeline.countPending(of: app.id)) != nil else { return }
            var place: SubmissionCursor?
            repeat {
                guard let page = await page(of: app.id, after: place) else { return }
                for kept in page.submissions {
                    guard !Task.isCancelled else { return }
                    await review(kept, for: app)
                }
                place = page.next
            } while place != nil
        }
    }

    private func page(of app: AppID, after place: SubmissionCursor?) async -> SubmissionPage? {
        try? await store.read { reader throws(StoreFailure) in
            try reader.pendingSubmissions(app: app, after: place, limit: SubmissionPage.limitMax)
        }
    }

    private func review(_ kept: KeptSubmission, for app: AppPolicy) async {
        // What an import keeps is for its jobs alone.
        guard kept.submission.origin == .presented else { return }
        // Product and device are not kept: what they contradict in the bytes was refused before it could wait.
        let submission = Submission(
            app: app.limited(for: kept),
            bytes: kept.submission.proof,
            customer: kept.submission.customer,
            order: kept.submission.order
        )
        guard let outcome = try? await pipeline.review(submission, kept: kept) else { return }
        if case .recorded = outcome { return }
        guard let verdict = outcome.verdict else {
            try? await pipeline.plan(kept)
            return
        }
        let (now, leave) = (clock.now, pipeline.leaving(kept))
        let isSettled = try? await store.write { transaction throws(StoreFailure) in
            let settlement = Settlement(verdict: verdict, at: try transaction.storeTime(now))
            guard try transaction.settlePending(kept.id, as: settlement) else { return false }
            let ended = KeptSubmission(kept.submission, settlement: settlement)
            try LedgerRequests.tell([ended], at: settlement.at, in: transaction)
            return true
        }
        if isSettled == true { leave() }
    }
}

extension Outcome {
    /// The verdict that settles a pending submission; `nil` while it stays open, or was settled with what was recorded.
    fileprivate var verdict: String? {
        switch self {
        case .nothingToRecord(_, let isTestSigned): (isTestSigned ? Verdict.testSigned : .genuine).rawValue
        case .refused(let refused): refused.isForGood ? refused.verdict : nil
        case .recorded, .pending, .busy, .customerBusy: nil
        }
    }
}
