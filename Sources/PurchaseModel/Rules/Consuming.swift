/// What is known when it is said how far a purchase was delivered and used.
package struct ConsumptionFacts: Sendable {
    package var transaction: RecordedTransaction?
    package var fulfilment: Fulfilment?
    /// Of whoever has it, in the currencies that it gave.
    package var balances: [CurrencyID: Int64]
    /// What is recorded of the customer's consent.
    package var consent: Consent?
    /// The same of the account that bought: a parent may have withdrawn it.
    package var accountConsent: Consent?

    package init(
        transaction: RecordedTransaction? = nil,
        fulfilment: Fulfilment? = nil,
        balances: [CurrencyID: Int64] = [:],
        consent: Consent? = nil,
        accountConsent: Consent? = nil
    ) {
        self.transaction = transaction
        self.fulfilment = fulfilment
        self.balances = balances
        self.consent = consent
        self.accountConsent = accountConsent
    }
}

/// Why a request ended without an answer. Stable words of the API.
package enum ConsumptionEnding {
    static let heardTooLate = "heard_too_late"
    package static let noConsent = "no_consent"
    package static let answersOff = "answers_off"
    package static let deliveryUnknown = "delivery_unknown"
    package static let appleAway = "apple_did_not_answer"
}

/// What is to be done about a request now.
package enum ConsumptionStep: Hashable, Sendable {
    case nothing
    /// Nothing can go out before; and why not now.
    case wait(until: Timestamp, ConsumptionObstacle)
    case send(ConsumptionAnswer)
    case close(because: String)
}

/// What keeps an answer back. Stable words of the API.
package enum ConsumptionObstacle: String, Hashable, Sendable, CaseIterable {
    /// The shop may still object.
    case scheduled
    case needsConsent = "needs_consent"
    /// The app's requests are not answered by themselves.
    case held
    /// The ledger does not know whether it was delivered, and Apple is told nothing that nobody knows.
    case deliveryUnknown = "delivery_unknown"
}

/// Says what is to be done about a request. Without consent nothing is sent, whoever wants it and however far it has come.
///
/// - Parameters:
///   - request: as it stands.
///   - facts: what is known about the purchase and its customer.
///   - terms: the app's policy.
///   - now: the moment.
/// - Returns: what to do now.
package func nextStep(
    of request: ConsumptionRequest,
    _ facts: ConsumptionFacts,
    _ terms: ConsumptionTerms,
    at now: Timestamp
) -> ConsumptionStep {
    guard !request.state.isSettled else { return .nothing }
    let consent = consentReason(facts, terms)
    let isWanted = terms.answers || request.isApproved || request.state == .sending
    // What was on its way may have arrived: then the same is said again, and nothing else.
    let underWay = request.state == .sending ? request.answer : nil
    let answer = underWay ?? compose(request, facts, terms, consent ?? .notKnown, at: now)
    if now >= request.deadline {
        if consent == nil { return .close(because: ConsumptionEnding.noConsent) }
        guard isWanted else { return .close(because: ConsumptionEnding.answersOff) }
        let ending = answer == nil ? ConsumptionEnding.deliveryUnknown : ConsumptionEnding.appleAway
        return .close(because: ending)
    }
    let patience = ConsumptionWindow(of: request.key.realm.environment).patience
    let later = min(max(now.advanced(by: patience), request.answerAt), request.deadline)
    guard isWanted else { return .wait(until: later, .held) }
    guard consent != nil else { return .wait(until: later, .needsConsent) }
    guard let answer else { return .wait(until: later, .deliveryUnknown) }
    guard underWay != nil || now >= request.answerAt else { return .wait(until: request.answerAt, .scheduled) }
    return .send(answer)
}

/// What would be sent, if it may be: also while it waits for something. `nil` where somebody has to say first whether it was
/// delivered.
package func preview(
    of request: ConsumptionRequest,
    _ facts: ConsumptionFacts,
    _ terms: ConsumptionTerms,
    at now: Timestamp
) -> ConsumptionAnswer? {
    compose(request, facts, terms, consentReason(facts, terms) ?? .notKnown, at: now)
}

/// By what the customer has consented; `nil` when she has not.
private func consentReason(_ facts: ConsumptionFacts, _ terms: ConsumptionTerms) -> AnswerReason? {
    if let account = facts.accountConsent, !account.isGiven { return nil }
    if let consent = facts.consent { return consent.isGiven ? .consentRecorded : nil }
    return terms.consent == .byTerms ? .consentByTerms : nil
}

private func compose(
    _ request: ConsumptionRequest,
    _ facts: ConsumptionFacts,
    _ terms: ConsumptionTerms,
    _ consent: AnswerReason,
    at now: Timestamp
) -> ConsumptionAnswer? {
    guard let (delivery, deliveryBecause) = request.delivery.map({ ($0, .byHand) }) ?? knownDelivery(facts) else {
        return nil
    }
    let (percentage, percentageBecause) = percentage(delivery, facts, at: now)
    var preference = request.preference ?? terms.preference
    var preferenceBecause: AnswerReason =
        request.preference != nil ? .byHand : terms.preference != nil ? .configuration : .noWish
    if preference == .grantProrated, !mayBeProrated(percentage, facts) {
        (preference, preferenceBecause) = (nil, .notDivisible)
    }
    // The policy is about what customers have got: nobody asks Apple to leave it at what was paid for and never came.
    if delivery != .delivered, preference == .decline, request.preference == nil {
        (preference, preferenceBecause) = (nil, .notDelivered)
    }
    return ConsumptionAnswer(
        delivery: delivery,
        because: deliveryBecause,
        isSampleProvided: terms.offersSamples || terms.sampleProducts.contains(request.product),
        percentage: percentage,
        because: percentageBecause,
        preference: preference,
        because: preferenceBecause,
        consentBecause: consent
    )
}

/// Whether it was delivered: only what the ledger knows is said, and `nil` where it does not know. That it was not is known
/// only where it was the ledger that held it back, or could not tell the shop.
private func knownDelivery(_ facts: ConsumptionFacts) -> (DeliveryAssertion, AnswerReason)? {
    guard let fulfilment = facts.fulfilment else { return nil }
    switch fulfilment.state {
    case .withheld where fulfilment.reason == .alreadyGranted: return (.delivered, .givenWithAnother)
    case .waiting, .withheld: return isHeldBack(fulfilment, facts) ? (.undeliveredOther, .nothingWasGiven) : nil
    case .granted, .partlyReversed, .reversed: break
    }
    switch fulfilment.delivery {
    case .acknowledged:
        // What was told of since the shop has acknowledged itself.
        let isOfBooks = fulfilment.isImported && fulfilment.fence <= max(fulfilment.importedFence, 1)
        return (.delivered, isOfBooks ? .deliveredBeforeImport : .acknowledgedByShop)
    case .sent: return (.delivered, .shopWasTold)
    case .pending, .failed, .compensated, nil: break
    }
    if !fulfilment.goods.isEmpty { return (.delivered, .inTheBooks) }
    // A shop that reads the feed may have delivered it long since, whether or not it says so.
    return fulfilment.delivery == .failed ? (.undeliveredServerOutage, .shopCouldNotBeTold) : nil
}

/// Whether it is for a reason of ours that nothing was given. What was bought before we heard of it, or is not in the
/// catalogue, another system may have delivered.
private func isHeldBack(_ fulfilment: Fulfilment, _ facts: ConsumptionFacts) -> Bool {
    guard !fulfilment.isImported, !fulfilment.isOfHistory else { return false }
    switch fulfilment.reason {
    case .sandbox, .outOfRange, .familyShared: return true
    case .noOrder, .orderContradicts: return facts.wasHeardInTime
    case .noCustomer, .fromHistory, .unknownProduct, .kindContradicts, .revoked, .upgraded, .expired,
        .alreadyGranted, nil:
        return false
    }
}

/// How much of it was used, in thousandths of a percent.
private func percentage(
    _ delivery: DeliveryAssertion,
    _ facts: ConsumptionFacts,
    at now: Timestamp
) -> (Int?, AnswerReason) {
    if facts.isSubscriptionPeriod { return (nil, .appleReckons) }
    guard delivery == .delivered else { return (0, .notDelivered) }
    guard let fulfilment = facts.fulfilment else { return (nil, .notKnown) }
    var used: [Int] = []
    for case .amount(let amount) in fulfilment.goods where amount.amount > 0 {
        // What is left in the balance may be of this purchase: as long as it may, it counts as not used.
        let left = min(max(facts.balances[amount.currency] ?? 0, 0), amount.left)
        used.append(share(of: amount.left - left, in: amount.amount))
    }
    if !used.isEmpty { return (used.reduce(0, +) / used.count, .usedOfBalance) }
    for case .entitlement(_, let end?) in fulfilment.goods {
        let start = fulfilment.purchasedAt
        // What was taken back is used no more.
        let last = fulfilment.isReversed ? min(now, fulfilment.reversedAt ?? now) : now
        let (passed, all) = (start.duration(to: min(max(last, start), end)), start.duration(to: end))
        return (all > .zero ? Int((passed / all * 100_000).rounded(.down)) : 0, .timePassed)
    }
    return (nil, .notKnown)
}

private func share(of part: Int64, in whole: Int64) -> Int {
    guard whole > 0 else { return 0 }
    let (part, whole) = (Double(part), Double(whole))
    return Int((part * 100_000 / whole).rounded(.down))
}

/// Of what does not renew by itself Apple takes a wish for a share only with a share that was used.
private func mayBeProrated(_ percentage: Int?, _ facts: ConsumptionFacts) -> Bool {
    if facts.isSubscriptionPeriod { return true }
    return percentage.map { (1..<100_000).contains($0) } ?? false
}

extension ConsumptionFacts {
    fileprivate var isSubscriptionPeriod: Bool { transaction?.isSubscriptionPeriod ?? false }

    /// Whether we heard of it when it was bought: of an older one nobody here knows what became of its order.
    fileprivate var wasHeardInTime: Bool {
        transaction.map { $0.recordedAt < $0.transaction.purchasedAt.advanced(by: .seconds(86_400)) } ?? false
    }
}

extension ConsumptionRequest {
    mutating func settle(as state: ConsumptionState, because ending: String?, at now: Timestamp) {
        self.state = state
        self.ending = ending
        settledAt = now
    }
}
