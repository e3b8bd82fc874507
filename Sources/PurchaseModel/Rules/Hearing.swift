// What Apple tells by itself.
extension Draft {
    /// Acts upon what a notification says beside its facts, once those are recorded.
    mutating func hear(_ recording: Recording) {
        guard let heard = recording.announcement else { return }
        switch heard.matter {
        case .refundRequest(let reason, let isAdvancedCommerce):
            open(heard, reason, isAdvancedCommerce ? .first : .second, recording)
        case .download(let id?) where heard.type == Self.rescinds:
            let subject = ConsentSubject.appTransaction(id, recording.realm)
            withdraw(ConsentKey(app: recording.app, subject: subject), by: AuditEntry.apple)
        default: break
        }
        if heard.endsRefundRequest { overtake(heard, recording) }
        guard heard.isToldItself || tellsOfItemsOnly(heard, recording) else { return }
        tell(.notificationReceived, stream(of: heard, recording), happenedAt: heard.signedAt, .announcement(heard))
    }

    /// Whether it says that something was taken back, and its transaction does not: of what was bought through Advanced Commerce
    /// Apple takes single items back, of which the ledger gives nothing by itself. Receipts, of the first format, tell such
    /// things of no consumable: there Apple is asked. And whether it says that such items are good again: then nothing is known to
    /// have been taken back.
    private func tellsOfItemsOnly(_ heard: Announcement, _ recording: Recording) -> Bool {
        guard [Self.refunds, Self.revokes, Self.reverses].contains(heard.type) else { return false }
        let named = recording.transactions.filter { heard.transaction == nil || $0.id == heard.transaction }
        guard named.contains(where: { $0.ownership != nil }), named.allSatisfy({ $0.revocation == nil }) else {
            return false
        }
        guard heard.type == Self.reverses else { return true }
        return named.contains { $0.advancedCommerce != nil } && !named.contains { wasTakenBack($0, recording) }
    }

    /// Whether it was, when the proof came.
    private func wasTakenBack(_ named: Transaction, _ recording: Recording) -> Bool {
        let key = TransactionKey(app: recording.app, realm: recording.realm, id: named.id)
        return known[key]?.transaction.revocation != nil
    }

    /// A parent has withdrawn the consent for the whole app: nothing more is told of that account's purchases either.
    private static let rescinds = "RESCIND_CONSENT"
    private static let refunds = "REFUND"
    private static let revokes = "REVOKE"
    private static let reverses = "REFUND_REVERSED"

    private mutating func open(
        _ heard: Announcement,
        _ reason: String?,
        _ form: ConsumptionForm,
        _ recording: Recording
    ) {
        let key = ConsumptionKey(app: recording.app, realm: recording.realm, id: heard.id)
        guard known.consumption(key) == nil,
            let recorded = heard.transaction.flatMap({
                recorded(TransactionKey(app: recording.app, realm: recording.realm, id: $0))
            })
        else { return }
        let window = ConsumptionWindow(of: recording.realm.environment)
        let deadline = heard.signedAt.advanced(by: window.length)
        var request = ConsumptionRequest(
            key: key,
            transaction: recorded.id,
            original: chain(of: recorded).original,
            product: recorded.transaction.product,
            form: form,
            reason: reason,
            askedAt: heard.signedAt,
            receivedAt: now,
            deadline: deadline,
            answerAt: window.answerAt(deadline, after: terms.consumption.delay, from: now)
        )
        if let refund = recorded.transaction.takenBack, refund.at >= heard.signedAt {
            // Apple's words come in any order: it has decided.
            request.settle(as: .overtaken, because: Self.refunds, at: now)
        } else if let declinedAt = known.refundDeclined(of: recorded.key), declinedAt >= heard.signedAt {
            request.settle(as: .overtaken, because: Announcement.refundDeclined, at: now)
        } else if deadline <= now {
            request.settle(as: .lapsed, because: ConsumptionEnding.heardTooLate, at: now)
        }
        put(request, "requested", by: AuditEntry.apple, reason)
        tell(.consumptionRequested, stream(of: request), happenedAt: heard.signedAt, .consumption(request))
    }

    /// Apple has decided: there is nothing left to say.
    private mutating func overtake(_ heard: Announcement, _ recording: Recording) {
        guard let id = heard.transaction else { return }
        let bought = TransactionKey(app: recording.app, realm: recording.realm, id: id)
        if heard.type == Announcement.refundDeclined { edit { $0.refundsDeclined[bought] = heard.signedAt } }
        for var request in known.openConsumptions(of: bought) where request.askedAt <= heard.signedAt {
            request.settle(as: .overtaken, because: heard.type, at: now)
            put(request, request.state.rawValue, by: AuditEntry.apple, heard.type)
            tell(.consumptionClosed, stream(of: request), happenedAt: heard.signedAt, .consumption(request))
        }
    }

    private mutating func withdraw(_ key: ConsentKey, by actor: String) {
        if let known = known.consent(key), !known.isGiven { return }
        put(Consent(key: key, isGiven: false, since: now), by: actor)
    }

    /// Whose it is as far as anybody knows.
    func stream(of request: ConsumptionRequest) -> StreamKey {
        let (app, realm) = (request.key.app, request.key.realm)
        return StreamKey(app: app, realm: realm, customer: owner(of: request.chain)?.customer)
    }

    private func stream(of heard: Announcement, _ recording: Recording) -> StreamKey {
        let (app, realm) = (recording.app, recording.realm)
        let bought = heard.transaction.flatMap { recorded(TransactionKey(app: app, realm: realm, id: $0)) }
        return StreamKey(app: app, realm: realm, customer: bought.flatMap { owner(of: chain(of: $0))?.customer })
    }
}

/// How long Apple waits for an answer, and what of that is left for whom.
///
/// Source: Apple, *Send Consumption Information*; the sandbox's five minutes, *Testing refund requests*.
struct ConsumptionWindow {
    let length: Duration

    init(of environment: StoreEnvironment) {
        length = .seconds(environment == .production ? 12 * 3_600 : 300)
    }

    /// Left for Apple to be away in: half an hour of twelve.
    private var margin: Duration { length / 24 }

    /// When an answer goes out: after the shop's time to look at it, and before it is too late.
    func answerAt(_ deadline: Timestamp, after delay: Duration, from now: Timestamp) -> Timestamp {
        // The shop's time is meant for the twelve hours of production; of five minutes it has a half.
        let wanted = now.advanced(by: delay < length ? delay : length / 2)
        return max(now, min(wanted, deadline.advanced(by: .zero - margin)))
    }

    /// How often is looked whether what is missing has come: the consent, a key, the policy.
    var patience: Duration { length / 72 }
}
