import PurchaseModel

// Asking for money back, Apple's decision, and its reversal.
extension SimulatedStore {
    mutating func askRefund(_ request: Act.RefundRequest) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(request.transaction)
        guard !transaction.isRevoked else { throw .alreadyRefunded }
        guard transaction.purchasedBy == nil else { throw .familyShared }
        guard let customer = customers[transaction.customer] else { throw .unknownCustomer }
        if request.isInApp, let line = lines[transaction.originalID], line.willAutoRenew, isRunning(line) {
            lines[line.originalID]?.willAutoRenew = false
            follow(line.originalID)
            tell(line.originalID, .didChangeRenewalStatus, "AUTO_RENEW_DISABLED")
            // As when she turns it off herself.
            if line.failure != nil { expire(line.originalID, .cancelled, "VOLUNTARY") }
        }
        let until = now.advanced(by: customer.rate.consumptionWindow)
        refundRequests[request.transaction] = RefundCase(request: request, answerUntil: until)
        if request.outcome != nil { agenda.plan(.refundIsDecided(request.transaction), at: until) }
        notify(.consumptionRequest, nil, request.transaction, consumptionReason: request.reason.rawValue)
        return .done([request.transaction])
    }

    /// What the request itself said would be decided, now that the merchant has had his time.
    mutating func refundIsDecided(_ id: TransactionID) {
        guard let asked = refundRequests[id], asked.answerUntil == now, let outcome = asked.request.outcome else {
            return
        }
        var decision = outcome
        // A merchant's wish for a share steers what was to be granted anyway.
        if outcome != .declined, case .prorated(let share)? = consumptions[id]?.last?.preference {
            decision = .prorated(percentage: share ?? consumptions[id]?.last?.percentage.map { 100_000 - $0 })
        }
        _ = try? decideRefund(id, decision)
    }

    mutating func decideRefund(_ id: TransactionID, _ decision: Act.RefundDecision) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(id)
        guard !transaction.isRevoked else { throw .alreadyRefunded }
        guard transaction.purchasedBy == nil else { throw .familyShared }
        let asked = refundRequests.removeValue(forKey: id)
        switch decision {
        case .declined:
            if asked?.request.isInApp ?? false { notify(.refundDeclined, nil, id) }
            return .done([id])
        case .full:
            refund(transaction, "REFUND_FULL", 100_000, asked)
        case .prorated(let percentage):
            refund(transaction, "REFUND_PRORATED", percentage ?? remainingShare(of: transaction), asked)
        }
        return .done([id])
    }

    mutating func reverseRefund(_ id: TransactionID) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(id)
        guard transaction.isRevoked, transaction.purchasedBy == nil else { throw .notRefunded }
        modify(id) { $0.fact.revocation = nil }
        if let line = lines[transaction.originalID], line.current == id {
            // The renewal date stands as it was.
            if line.expiresAt > now {
                agenda.plan(.periodEnds(line: line.originalID), at: line.expiresAt)
            } else {
                lines[line.originalID]?.hasExpired = true
                lines[line.originalID]?.expirationIntent = .cancelled
            }
        }
        notify(.refundReversed, nil, id)
        return .done([id])
    }

    private mutating func refund(
        _ transaction: SoldTransaction,
        _ type: String,
        _ percentage: Int,
        _ asked: RefundCase?
    ) {
        let isAppsFault = asked?.request.reason == .fulfillmentIssue || asked?.request.reason == .unsatisfied
        let revocation = Revocation(
            at: now,
            reason: isAppsFault ? 1 : 0,
            type: type,
            percentage: max(1, min(percentage, 100_000))
        )
        modify(transaction.id) { $0.fact.revocation = revocation }
        if let line = lines[transaction.originalID], line.current == transaction.id {
            lines[line.originalID]?.willAutoRenew = false
            lines[line.originalID]?.failure = nil
            lines[line.originalID]?.expirationIntent = nil
        }
        notify(.refund, nil, transaction.id)
        revokeCopies(of: transaction.id)
    }

    /// Thousandths of a percent: of a subscription's period what is left, of anything else one half.
    private func remainingShare(of transaction: SoldTransaction) -> Int {
        guard let end = transaction.fact.expiresAt else { return 50_000 }
        let whole = end.milliseconds - transaction.fact.purchasedAt.milliseconds
        guard whole > 0 else { return 50_000 }
        let left = max(0, min(whole, end.milliseconds - now.milliseconds))
        // Both fit: a period has less than 2^37 milliseconds.
        return Int(left * 100_000 / whole)
    }
}
