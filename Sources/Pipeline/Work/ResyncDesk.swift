package import Jobs
package import PurchaseModel
package import Storage
package import Verification

/// Has Apple asked now, because a person wants to know: about a purchase, by the jobs that ask sooner or later anyway, or
/// about a proof that waits.
package struct ResyncDesk: Sendable {
    private let queue: JobQueue?
    private let reach: @Sendable (AppID, Realm) -> AppleReach

    /// - Parameters:
    ///   - queue: gets the jobs; `nil` where nothing works on them.
    ///   - reach: what can be asked of Apple about an app's purchases on one side of the wall.
    package init(queue: JobQueue?, reach: @escaping @Sendable (AppID, Realm) -> AppleReach) {
        self.queue = queue
        self.reach = reach
    }

    /// For what has no jobs: Apple is asked nothing.
    package static let none = ResyncDesk(queue: nil) { _, _ in .nothing }

    /// What will be asked.
    package enum Question: Hashable, Sendable {
        /// How the subscription stands, and which of its periods are not known.
        case subscription(ChainKey)
        /// What the customer of this purchase has bought, and what was taken back of it.
        case history(TransactionKey)
        /// What a proof stands for that the bytes alone did not settle.
        case proof(SubmissionID)
    }

    /// Why Apple is not asked.
    package enum Fault: Error, Hashable, Sendable {
        case unknown
        /// The proof was decided, or given up.
        case settled
        /// The server has no key, and no shared secret that would do, for Apple to answer this.
        case outOfReach
    }

    /// What would be asked about a purchase.
    ///
    /// - Parameters:
    ///   - key: its transaction.
    ///   - reader: what is known of it.
    /// - Returns: the question.
    /// - Throws: `StoreFailure`.
    package func question(
        about key: TransactionKey,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Result<Question, Fault> {
        guard let recorded = try reader.transactions([key]).first else { return .failure(.unknown) }
        let reach = reach(key.app, key.realm)
        let alone = ChainKey(app: key.app, realm: key.realm, original: key.id)
        if let known = try reader.subscriptions([recorded.chain, alone]).first {
            return reach == .nothing ? .failure(.outOfReach) : .success(.subscription(known.chain))
        }
        return reach == .everything ? .success(.history(key)) : .failure(.outOfReach)
    }

    /// The same about a proof that waits.
    package func question(
        about id: SubmissionID,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Result<Question, Fault> {
        guard let kept = try reader.submission(id) else { return .failure(.unknown) }
        guard kept.settlement == nil else { return .failure(.settled) }
        // On which side of the wall it stands is what is to be found out.
        let reaches = Realm.known.map { reach(kept.submission.app, $0) }
        guard reaches.contains(where: { $0 != .nothing }) else { return .failure(.outOfReach) }
        return .success(.proof(try reader.firstInTurn(with: kept).id))
    }

    /// Has the job run now: added, or brought forward where one waits that failed before.
    package func ask(_ question: Question, in write: any JobVerbs) throws(StoreFailure) {
        guard let queue else { return }
        switch question {
        case .subscription(let chain): try queue.hasten(SubscriptionLook(chain), in: write)
        case .history(let key): try queue.hasten(CustomerReading(.history, of: key), in: write)
        // Also of what an import keeps: somebody waits now, and its own job stands behind others.
        case .proof(let id): try queue.hasten(ProofDecision(id), in: write)
        }
    }
}

/// What can be asked of Apple about an app's purchases.
package enum AppleReach: Hashable, Sendable {
    case nothing
    /// Receipts, by a shared secret.
    case receipts
    /// Also the App Store Server API, by a key.
    case everything

    /// What a configuration reaches; without both nobody is asked.
    package init(hasKey: Bool, hasSharedSecret: Bool) {
        self = hasKey ? .everything : hasSharedSecret ? .receipts : .nothing
    }

    /// Whether Apple can be asked a question; `nil` is none.
    package func includes(_ question: AppleQuestion?) -> Bool {
        switch (self, question) {
        case (.nothing, _), (_, nil), (.receipts, .transactions): false
        case (.everything, _), (.receipts, .receipt): true
        }
    }
}
