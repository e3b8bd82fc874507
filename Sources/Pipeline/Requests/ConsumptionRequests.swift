import Jobs
package import PurchaseModel
package import Storage

/// What the shop says about Apple's requests for consumption information, each inside one write.
package enum ConsumptionDesk {
    /// Has a request answered now.
    ///
    /// - Parameters:
    ///   - key: of the request.
    ///   - word: what Apple should decide, and whether it was delivered; what it leaves out stays as it was.
    ///   - app: with its policy.
    ///   - actor: who says so.
    ///   - queue: gets the job that answers.
    ///   - now: the moment.
    ///   - transaction: the write.
    /// - Returns: the request as it stands then.
    /// - Throws: `StoreFailure`.
    package static func answer(
        _ key: ConsumptionKey,
        _ word: ConsumptionWord,
        for app: AppPolicy,
        by actor: String,
        _ queue: ConsumptionQueue,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<ConsumptionRequest, ConsumptionFault> {
        let situation = try transaction.situation(of: key)
        let facts = try situation.consumption(key).map { request throws(StoreFailure) in
            try transaction.facts(of: request)
        }
        let decision: Decision
        do throws(ConsumptionFault) {
            decision = try decide(
                situation,
                answering: key,
                word,
                facts ?? ConsumptionFacts(),
                terms: app.terms.consumption,
                by: actor,
                at: now
            )
        } catch {
            return .failure(error)
        }
        try LedgerRequests.apply(decision, in: transaction)
        guard let request = decision.consumptions.first?.row else { return .failure(.unknown) }
        try queue.enqueue(request, transaction)
        return .success(request)
    }

    /// Has a request not answered.
    package static func decline(
        _ key: ConsumptionKey,
        by actor: String,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<ConsumptionRequest, ConsumptionFault> {
        let situation = try transaction.situation(of: key)
        let decision: Decision
        do throws(ConsumptionFault) {
            decision = try decide(situation, declining: key, by: actor, at: now)
        } catch {
            return .failure(error)
        }
        try LedgerRequests.apply(decision, in: transaction)
        let row = decision.consumptions.first?.row ?? situation.consumption(key)
        return row.map { .success($0) } ?? .failure(.unknown)
    }

    /// Records that a customer consents, or does not any more.
    ///
    /// - Returns: what is recorded then.
    package static func note(
        _ isGiven: Bool,
        of key: ConsentKey,
        by actor: String,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Consent {
        var situation = Situation()
        var inquiry = Inquiry()
        inquiry.consents = [key]
        try transaction.answer(inquiry, in: &situation)
        let decision = decide(situation, consenting: isGiven, of: key, by: actor, at: now)
        try LedgerRequests.apply(decision, in: transaction)
        return decision.consents.first?.row ?? situation.consent(key)
            ?? Consent(key: key, isGiven: isGiven, since: now)
    }
}

/// Where the jobs that answer are put.
package struct ConsumptionQueue: Sendable {
    package let enqueue: @Sendable (ConsumptionRequest, any JobVerbs) throws(StoreFailure) -> Void

    package init(enqueue: @escaping @Sendable (ConsumptionRequest, any JobVerbs) throws(StoreFailure) -> Void) {
        self.enqueue = enqueue
    }

    /// For what has no jobs: requests are kept, and answered by nobody.
    package static let none = ConsumptionQueue { _, _ in }
}
