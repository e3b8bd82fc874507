/// Has a request answered at once, because a person says so; the app's policy does not matter then, the consent does.
///
/// - Parameters:
///   - situation: with the request.
///   - key: of the request.
///   - word: what the person wants Apple to decide, and says of the delivery; what it leaves out stays as it was.
///   - facts: what is known about the purchase and its customer.
///   - terms: the app's policy.
///   - actor: who says so.
///   - now: the moment.
/// - Returns: what to write.
/// - Throws: ``ConsumptionFault``.
package func decide(
    _ situation: Situation,
    answering key: ConsumptionKey,
    _ word: ConsumptionWord,
    _ facts: ConsumptionFacts,
    terms: ConsumptionTerms,
    by actor: String,
    at now: Timestamp
) throws(ConsumptionFault) -> Decision {
    var request = try openRequest(key, in: situation, at: now)
    request.preference = word.preference ?? request.preference
    request.delivery = word.delivery ?? request.delivery
    request.isApproved = true
    request.answerAt = now
    request.turn += 1
    switch nextStep(of: request, facts, terms, at: now) {
    case .send(let answer):
        // Whoever asks for a share by hand must not see another wish sent.
        guard word.preference == nil || answer.preference == word.preference else { throw .notDivisible }
    case .wait(_, .needsConsent): throw .noConsent
    case .wait(_, .deliveryUnknown): throw .deliveryUnknown
    case .wait, .close, .nothing: throw .tooLate
    }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(request, "approved", by: actor, word.text)
    return draft.decided
}

/// Has a request not answered, because a person says so.
package func decide(
    _ situation: Situation,
    declining key: ConsumptionKey,
    by actor: String,
    at now: Timestamp
) throws(ConsumptionFault) -> Decision {
    if let known = situation.consumption(key), known.state == .declined { return Decision() }
    var request = try openRequest(key, in: situation, at: now)
    request.settle(as: .declined, because: nil, at: now)
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(request, request.state.rawValue, by: actor)
    draft.tell(.consumptionClosed, draft.stream(of: request), happenedAt: now, .consumption(request))
    return draft.decided
}

/// Notes that an answer is on its way: before it is, so that a process that ends meanwhile says the same again.
///
/// - Returns: nothing to write when it was noted before, or is settled.
package func decide(
    _ situation: Situation,
    sending answer: ConsumptionAnswer,
    to key: ConsumptionKey,
    at now: Timestamp
) -> Decision {
    guard var request = situation.consumption(key), request.state == .open else { return Decision() }
    request.state = .sending
    request.answer = answer
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(request, request.state.rawValue, by: AuditEntry.us)
    return draft.decided
}

/// Notes how a request ended.
///
/// - Parameters:
///   - situation: with the request.
///   - key: of the request.
///   - state: a settled one.
///   - ending: why, if there is something to say.
///   - now: the moment.
/// - Returns: nothing to write when it is settled already.
package func decide(
    _ situation: Situation,
    settling key: ConsumptionKey,
    as state: ConsumptionState,
    because ending: String?,
    at now: Timestamp
) -> Decision {
    precondition(state.isSettled, "a request ends in a state that is an end")
    guard var request = situation.consumption(key), !request.state.isSettled else { return Decision() }
    request.settle(as: state, because: ending, at: now)
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(request, state.rawValue, by: AuditEntry.us, ending)
    let type = state == .answered ? EventType.consumptionAnswered : .consumptionClosed
    draft.tell(type, draft.stream(of: request), happenedAt: now, .consumption(request))
    return draft.decided
}

/// Records that a customer consents to Apple being told of her purchases, or does not any more.
///
/// - Returns: nothing to write when this is known.
package func decide(
    _ situation: Situation,
    consenting isGiven: Bool,
    of key: ConsentKey,
    by actor: String,
    at now: Timestamp
) -> Decision {
    if let known = situation.consent(key), known.isGiven == isGiven { return Decision() }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(Consent(key: key, isGiven: isGiven, since: now), by: actor)
    return draft.decided
}

/// What a person says when she has a request answered.
package struct ConsumptionWord: Hashable, Sendable {
    package var preference: RefundPreference?
    package var delivery: DeliveryAssertion?

    package init(preference: RefundPreference? = nil, delivery: DeliveryAssertion? = nil) {
        self.preference = preference
        self.delivery = delivery
    }

    /// For the records.
    fileprivate var text: String? {
        let words = [preference?.rawValue, delivery?.rawValue].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

/// Why a person's word on a request cannot be carried out.
package enum ConsumptionFault: Error, Hashable, Sendable {
    case unknown
    /// It is past the state in which this could be done.
    case requestIs(ConsumptionState)
    /// The customer has not consented.
    case noConsent
    /// The ledger does not know whether it was delivered, and nobody has said so.
    case deliveryUnknown
    /// Its time is over.
    case tooLate
    /// A share of the price can be asked for only where a share was used.
    case notDivisible
}

private func openRequest(
    _ key: ConsumptionKey,
    in situation: Situation,
    at now: Timestamp
) throws(ConsumptionFault) -> ConsumptionRequest {
    guard let request = situation.consumption(key) else { throw .unknown }
    guard request.state == .open else { throw .requestIs(request.state) }
    guard now < request.deadline else { throw .tooLate }
    return request
}
