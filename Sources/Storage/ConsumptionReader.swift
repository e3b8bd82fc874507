package import PurchaseModel

/// The questions about what Apple asks of purchases whose price customers want back.
package protocol ConsumptionReader {
    /// The recorded ones among these, in no order.
    func consumptionRequests(_ keys: [ConsumptionKey]) throws(StoreFailure) -> [ConsumptionRequest]

    /// Those about these transactions that are not settled, in no order.
    func openConsumptionRequests(of keys: [TransactionKey]) throws(StoreFailure) -> [ConsumptionRequest]

    /// An app's requests, the newest first, from a place in the listing on; the limit is brought between 1 and
    /// ``ConsumptionPage/limitMax``.
    func consumptionRequests(
        app: AppID,
        before cursor: ConsumptionCursor?,
        where filter: ConsumptionFilter,
        limit: Int
    ) throws(StoreFailure) -> ConsumptionPage

    /// What is recorded of these consents, in no order.
    func consents(_ keys: [ConsentKey]) throws(StoreFailure) -> [Consent]

    /// Who did what about something, the oldest first; at most `AuditEntry.listedMax`.
    func audit(app: AppID, of subject: AuditSubject) throws(StoreFailure) -> [AuditEntry]
}

extension AuditEntry {
    /// A request that was changed more often is none; of a consent the first changes are shown.
    package static let listedMax = 500
}

extension StoreReader {
    /// What is known around a request, as far as a decision about it needs.
    package func situation(of key: ConsumptionKey) throws(StoreFailure) -> Situation {
        var situation = Situation()
        guard let request = try consumptionRequests([key]).first else { return situation }
        situation.note(request)
        var inquiry = Inquiry()
        inquiry.chains = [request.chain]
        try answer(inquiry, in: &situation)
        let customer = situation.owner(of: request.chain)?.customer
        inquiry = Inquiry()
        inquiry.customers = [StreamKey(app: key.app, realm: key.realm, customer: customer)]
        try answer(inquiry, in: &situation)
        return situation
    }

    /// Notes which refunds of a chain Apple has declined, by the newest hundred notifications that say so.
    func noteRefundsDeclined(of chain: ChainKey, in situation: inout Situation) throws(StoreFailure) {
        let filter = NotificationFilter(
            type: Announcement.refundDeclined,
            original: chain.original,
            realms: [chain.realm]
        )
        let limit = NotificationPage.limitMax
        for heard in try notifications(app: chain.app, before: nil, where: filter, limit: limit).notifications {
            guard let id = heard.transaction else { continue }
            let transaction = TransactionKey(app: chain.app, realm: chain.realm, id: id)
            situation.note(refundDeclinedAt: heard.signedAt, of: transaction)
        }
    }

    /// What is known of the purchase that a request is about, and of its customer.
    package func facts(of request: ConsumptionRequest) throws(StoreFailure) -> ConsumptionFacts {
        var facts = ConsumptionFacts()
        facts.transaction = try transactions([request.transactionKey]).first
        let alone = ChainKey(app: request.key.app, realm: request.key.realm, original: request.transaction)
        facts.fulfilment = try fulfilments([request.chain, alone]).first { $0.transaction == request.transactionKey }
        let owner = try owners([request.chain]).first?.customer
        facts.consent = try consent(of: [owner, facts.fulfilment?.customer].compactMap(\.self), request.key.app)
        guard let customer = facts.fulfilment?.customer ?? owner else { return try withAccount(facts, request) }
        var wallets: [WalletKey] = []
        for case .amount(let amount) in facts.fulfilment?.goods ?? [] {
            let (app, realm) = (request.key.app, request.key.realm)
            wallets.append(WalletKey(app: app, realm: realm, customer: customer, currency: amount.currency))
        }
        for wallet in try self.wallets(wallets) { facts.balances[wallet.key.currency] = wallet.balance }
        return try withAccount(facts, request)
    }

    /// What counts of several people's consent: that of whose the purchase is, the first, unless another has refused his to
    /// whom it was given before.
    private func consent(of people: [CustomerID], _ app: AppID) throws(StoreFailure) -> Consent? {
        let keys = people.map { ConsentKey(app: app, subject: .customer($0)) }
        let found = try consents(Array(Set(keys)))
        return found.first { !$0.isGiven } ?? found.first { $0.key == keys.first }
    }

    private func withAccount(
        _ facts: ConsumptionFacts,
        _ request: ConsumptionRequest
    ) throws(StoreFailure) -> ConsumptionFacts {
        guard let account = facts.transaction?.transaction.appTransaction else { return facts }
        var facts = facts
        let subjects = ConsentSubject.accounts(account, in: request.key.realm)
        let found = try consents(subjects.map { ConsentKey(app: request.key.app, subject: $0) })
        facts.accountConsent = found.first { !$0.isGiven } ?? found.first
        return facts
    }
}
