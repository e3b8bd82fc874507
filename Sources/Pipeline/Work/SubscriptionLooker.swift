import AppStore
package import Jobs
package import PurchaseModel
package import Storage
package import Verification

/// Asks Apple how a subscription stands, and records what it says; where Apple cannot be asked, the clock decides.
package struct SubscriptionLooker: Sendable {
    package static let schedule = RetrySchedule(first: .seconds(60), longest: .seconds(3_600), attemptsMax: .max)
    /// In how many periods, the newest first, a receipt is looked for.
    private static let periodsMax = 100
    /// Of how many periods Apple is asked in one look whether an upgrade took their place.
    private static let upgradesMax = 10

    private let recorder: Recorder
    private let verifier: Verifier
    private let store: any Store
    private let apps: Set<AppID>
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    /// - Parameters:
    ///   - recorder: records what Apple says.
    ///   - verifier: finds the receipt in what was kept.
    ///   - store: where subscriptions are.
    ///   - apps: those that are configured.
    ///   - accounts: how Apple is asked about each app.
    ///   - clock: says what has passed.
    package init(
        recorder: Recorder,
        verifier: Verifier,
        store: any Store,
        apps: Set<AppID>,
        accounts: [AppID: AppleAccount],
        clock: any WallClock
    ) {
        self.recorder = recorder
        self.verifier = verifier
        self.store = store
        self.apps = apps
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(SubscriptionLook.self, schedule: Self.schedule) { job, run in
            // Another server may know the app: nothing happens to what nobody could ask about.
            guard apps.contains(job.chain.app) else {
                return AppleTrouble.withoutKey(since: run.due, at: clock.now) ?? .done
            }
            return await look(at: job.chain)
        }
    }

    /// What is known of a subscription before Apple is asked.
    fileprivate struct Known: Sendable {
        let subscription: RecordedSubscription
        let period: RecordedTransaction?
    }

    private func look(at chain: ChainKey) async -> JobOutcome {
        do throws(StoreFailure) {
            guard let known = try await known(chain) else { return .done }
            var trouble: JobOutcome?
            if let account = accounts[chain.app], account.isTest == chain.realm.isTestSigned {
                let answer = try await ask(known, chain, account)
                // It has gone on, and how is still to be heard.
                if case .partly(let outcome) = answer { return outcome }
                if case .away(let outcome) = answer { trouble = outcome }
            }
            // Time passes over it also while Apple is away; an end that nobody has confirmed is a patient one.
            let (now, chains, newest) = (clock.now, [chain], known.subscription.current)
            _ = try await store.write { transaction throws(StoreFailure) in
                try LedgerRequests.look(at: chains, askedOf: newest, at: now, in: transaction)
            }
            return trouble ?? .done
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    private func known(_ chain: ChainKey) async throws(StoreFailure) -> Known? {
        try await store.read { reader throws(StoreFailure) in
            guard let subscription = try reader.subscriptions([chain]).first else { return nil }
            let period = try subscription.currentKey.flatMap { key throws(StoreFailure) in
                try reader.transactions([key]).first
            }
            return Known(subscription: subscription, period: period)
        }
    }

    /// The newest receipt that was kept of a subscription. A notification may have proved its last periods, and there is no
    /// receipt in it.
    private func receipt(of chain: ChainKey) async throws(StoreFailure) -> [UInt8]? {
        try await store.read { reader throws(StoreFailure) in
            let periods = try reader.fulfilments([chain]).sorted { $0.purchasedAt > $1.purchasedAt }
            for period in periods.prefix(Self.periodsMax) {
                let key = period.transaction
                for evidence in [try reader.latestEvidence(of: key), try reader.evidence(of: key)] {
                    guard let evidence, case .receipt(let receipt)? = verifier.question(about: evidence.proof) else {
                        continue
                    }
                    return receipt
                }
            }
            return nil
        }
    }

    /// What came of asking Apple, and when to come again.
    private enum Answer {
        /// Apple has said what there is to say, or has nothing to say.
        case whole
        /// Apple has told of a newer period, and not yet of all before it.
        case partly(JobOutcome)
        case away(JobOutcome)
    }

    private func ask(
        _ known: Known,
        _ chain: ChainKey,
        _ account: AppleAccount
    ) async throws(StoreFailure) -> Answer {
        if account.hasKey { return try await askServer(known, chain, account) }
        guard let receipt = try await receipt(of: chain) else { return .whole }
        return try await askAboutReceipt(receipt, chain, account).map { .away($0) } ?? .whole
    }

    private func askServer(
        _ known: Known,
        _ chain: ChainKey,
        _ account: AppleAccount
    ) async throws(StoreFailure) -> Answer {
        let found: [SubscriptionStatus]
        do throws(AppStoreFailure) {
            found = try await account.server.statuses(ofAny: chain.original, in: chain.realm.environment).value
        } catch {
            return AppleTrouble.outcome(of: error, at: clock.now).map { .away($0) } ?? .whole
        }
        // Of several periods since the last one that we know, the statuses tell the last.
        if let start = known.missedSince(found),
            let trouble = try await askHistory(chain, since: start, before: found, account)
        {
            return .partly(trouble)
        }
        for status in found {
            // They are those of all that the customer has subscribed to.
            let source: RecordingSource = status.transaction.chains == [chain.original] ? .presented : .history
            try await record(status.transaction, status.renewal, account, from: source)
        }
        return try await askAboutUpgrades(chain, account).map { .away($0) } ?? .whole
    }

    /// Asks what became of periods that another plan took the place of: nobody sends that.
    private func askAboutUpgrades(
        _ chain: ChainKey,
        _ account: AppleAccount
    ) async throws(StoreFailure) -> JobOutcome? {
        for id in try await upgradesToHear(of: chain).prefix(Self.upgradesMax) {
            let found: Verified<Proof>
            do throws(AppStoreFailure) {
                found = try await account.server.transaction(id, in: chain.realm.environment).value
            } catch {
                // Of what Apple does not know nothing more is heard.
                if let outcome = AppleTrouble.outcome(of: error, at: clock.now) { return outcome }
                continue
            }
            guard found.chains == [chain.original] else { continue }
            try await record(found, nil, account, from: .presented)
        }
        return nil
    }

    private func upgradesToHear(of chain: ChainKey) async throws(StoreFailure) -> [TransactionID] {
        let verifier = verifier
        return try await store.read { reader throws(StoreFailure) in
            let given = try reader.fulfilments([chain])
            guard mayHideUpgrades(given) else { return [] }
            let rows = try reader.transactions(given.map(\.transaction))
            var periods = rows.map(\.transaction)
            // Of few periods there is anything to ask, whatever was said of them since.
            let open = Set(PurchaseModel.upgradesToHear(among: periods.map(\.asSaidAtFirst)))
            for (place, row) in rows.enumerated() where open.contains(row.id) {
                // The newest proof is a receipt then, which says nothing of upgrades.
                guard let fuller = try reader.fullerEvidence(of: row.key) else { continue }
                periods[place].signedAt = Self.signingMoment(of: row.id, in: fuller, by: verifier)
            }
            return PurchaseModel.upgradesToHear(among: periods)
        }
    }

    private static func signingMoment(
        of id: TransactionID,
        in evidence: EvidenceRow,
        by verifier: Verifier
    ) -> Timestamp {
        let claims = verifier.examine(evidence.proof, expecting: Expectation()).report.claims
        return claims.transactions.first { $0.id == id }?.signedAt ?? claims.signedAt ?? evidence.receivedAt
    }

    /// Each page is recorded before the next is asked for: a customer's history may be long. The newest periods are left to be
    /// recorded with what Apple says of their renewal.
    private func askHistory(
        _ chain: ChainKey,
        since start: Timestamp,
        before found: [SubscriptionStatus],
        _ account: AppleAccount
    ) async throws(StoreFailure) -> JobOutcome? {
        let environment = chain.realm.environment
        let newest = Set(found.flatMap { $0.transaction.fact.transactions.map(\.id) })
        let followed = found.reduce(into: Set<TransactionID>()) { $0.formUnion($1.transaction.chains) }
        var pages = account.server.history(ofAny: chain.original, since: start, in: environment).makeAsyncIterator()
        while true {
            let page: HistoryPage?
            do throws(AppStoreFailure) {
                page = try await pages.next()
            } catch {
                return AppleTrouble.outcome(of: error, at: clock.now)
            }
            guard let page else { return nil }
            for proof in page.transactions where !proof.fact.transactions.contains(where: { newest.contains($0.id) }) {
                // It lists all that the customer bought since.
                try await record(
                    proof,
                    nil,
                    account,
                    from: proof.chains == [chain.original] ? .presented : .history,
                    isFollowed: proof.chains.isSubset(of: followed)
                )
            }
        }
    }

    private func askAboutReceipt(
        _ receipt: [UInt8],
        _ chain: ChainKey,
        _ account: AppleAccount
    ) async throws(StoreFailure) -> JobOutcome? {
        var options = VerifyReceiptCall.Options()
        options.isVerifiedLocally = true
        options.stores = account.app.environments
        switch await account.receipts.verify(receipt, of: account.credentials, options: options) {
        case .valid(let answered), .renewable(let answered), .expired(let answered):
            try await record(answered.proof, account) { $0.renewals += answered.renewals.map(\.fact) }
            return nil
        case .refused(let refusal):
            // It was good once. What Apple says of it now tells nothing of the subscription.
            return refusal.mayPass ? .failed(because: "Apple: \(refusal)") : nil
        case .disagreement(let status):
            return .failed(because: "Apple refuses with \(status) what has a good signature")
        case .wrongSharedSecret: return AppleTrouble.wrongSecret
        case .unavailable(let trouble, let retryAt):
            return AppleTrouble.outcome(of: trouble, retryAt: retryAt, at: clock.now)
        }
    }

    /// Records a transaction together with what Apple says of its renewal: by itself it would be over, until that is heard.
    private func record(
        _ proof: Verified<Proof>,
        _ renewal: Verified<Proof>?,
        _ account: AppleAccount,
        from source: RecordingSource,
        isFollowed: Bool = false
    ) async throws(StoreFailure) {
        let isTogether = renewal.map { account.app.mayCount($0) && $0.realm == proof.realm } ?? false
        try await record(proof, andOfRenewal: isTogether ? renewal : nil, account) { recording in
            (recording.source, recording.isFollowed) = (source, isFollowed)
        }
    }

    private func record(
        _ proof: Verified<Proof>,
        andOfRenewal renewal: Verified<Proof>? = nil,
        _ account: AppleAccount,
        _ change: (inout Recording) -> Void
    ) async throws(StoreFailure) {
        let app = account.app
        guard let realm = app.realm(of: proof) else { return }
        var recording = proof.recording(for: app, in: realm, renewal?.fact.claims.renewal.map { [$0] } ?? [])
        recording.isLookedUp = true
        change(&recording)
        let (evidence, ofRenewal) = (proof.evidence(at: clock.now), renewal?.evidence(at: clock.now))
        do throws(StoreFailure) {
            _ = try await recorder.record(recording, evidence: evidence, andOfRenewal: ofRenewal)
        } catch .unstorable {
            // A text in it that no row can hold: it will never be another.
            return
        }
    }
}

extension Verified<Proof> {
    /// What it tells of.
    fileprivate var chains: Set<TransactionID> { Set(fact.transactions.map { $0.originalID ?? $0.id }) }
}

extension SubscriptionLooker.Known {
    /// Since when to ask for what was bought; `nil` when the newest period is the one that we know.
    fileprivate func missedSince(_ found: [SubscriptionStatus]) -> Timestamp? {
        let newest = found.flatMap(\.transaction.fact.transactions)
            .filter { ($0.originalID ?? $0.id) == subscription.chain.original }
            .max { $0.purchasedAt < $1.purchasedAt }
        guard let newest, let period, newest.id != period.id, !newest.isSamePeriod(as: period.transaction) else {
            return nil
        }
        return period.transaction.purchasedAt
    }
}

extension Transaction {
    /// The same if nothing had been said of it since it was bought.
    fileprivate var asSaidAtFirst: Transaction {
        var first = self
        first.signedAt = min(signedAt, purchasedAt)
        return first
    }
}
