import PurchaseModel
import Simulator

/// What may be found of one thing at a moment: what was true of it at some moment since all must be known.
struct Possible<Truth: Hashable & Sendable>: Sendable {
    let truths: [Truth]
    /// It may be unknown: it began since then.
    let mayBeAbsent: Bool

    init?(_ history: History<Truth>?, since moment: Timestamp) {
        guard let history, !history.entries.isEmpty else { return nil }
        (truths, mayBeAbsent) = history.since(moment)
    }

    /// Nothing has changed: then all of it must be found, and nothing else.
    var isSettled: Bool { truths.count == 1 && !mayBeAbsent }

    func allows<Value: Equatable>(_ value: Value, _ field: (Truth) -> Value) -> Bool {
        truths.contains { field($0) == value }
    }
}

extension Possible<LineTruth> {
    /// What is wrong with how a subscription is told to stand, in words; nil when nothing is.
    func complaint(about found: Subscription?, at now: Timestamp) -> String? {
        guard let found else { return mayBeAbsent ? nil : "it is unknown" }
        let states = truths.map { $0.status(at: now) }
        guard states.contains(where: { $0.rawValue == found.state.number }) || found.isBehind && !isSettled else {
            return "it is \(found.state), not \(states)"
        }
        // Apple tells nobody of the end that a member's copy would have had.
        if found.state == .revoked { return wrong("product", found.product, \.product) }
        let isFailing = found.state == .grace || found.state == .billingRetry
        let graceEnd = found.graceEndsAt?.wholeSeconds
        return wrong("product", found.product, \.product)
            ?? wrong("end", found.expiresAt?.wholeSeconds) { $0.expiresAt.wholeSeconds }
            ?? (isFailing ? wrong("end of grace", graceEnd) { $0.graceEndsAt?.wholeSeconds } : nil)
            ?? wrong("auto-renew", found.willAutoRenew) { $0.willAutoRenew }
            ?? wrong("next product", found.nextProduct) { $0.nextProduct }
    }

    /// What nobody has said is no lie while news may be on its way.
    private func wrong<Value: Equatable>(
        _ name: String,
        _ value: Value?,
        _ field: (LineTruth) -> Value?
    ) -> String? {
        if value == nil, !isSettled { return nil }
        if truths.contains(where: { field($0) == value }) { return nil }
        let possible = truths.map { field($0).map { "\($0)" } ?? "none" }
        return "the \(name) is \(value.map { "\($0)" } ?? "unknown"), not \(possible)"
    }
}

extension Possible<PurchaseTruth> {
    /// What is wrong with a recorded transaction, in words; nil when nothing is.
    func complaint(about found: RecordedTransaction?) -> String? {
        guard let found else { return mayBeAbsent ? nil : "it is not recorded" }
        let truth = PurchaseTruth(found.transaction)
        if truths.contains(truth) { return nil }
        // Each of its parts may be of another moment, or not said yet, while news is on its way.
        let isAllowed =
            !isSettled && allows(truth.revokedAt, \.revokedAt) && allows(truth.expiresAt, \.expiresAt)
            && (truth.ownership == nil || allows(truth.ownership, \.ownership)) && allows(truth.product, \.product)
        return isAllowed ? nil : "\(truth), not \(truths)"
    }
}

/// What a customer may be found to have of one entitlement, of all that could give it.
struct PossibleAccess: Sendable {
    private var allowed: [Access?] = []
    /// As long it lasts whatever is true of everything.
    private var least: Access?
    private var mayBeNone = true

    /// Adds something that gives it for so long, or not at all, whichever of these is true.
    mutating func add(_ one: [Access?]) {
        allowed.append(contentsOf: one)
        guard !one.contains(where: { $0 == nil }), let shortest = one.compactMap(\.self).min() else { return }
        mayBeNone = false
        least = max(least ?? shortest, shortest)
    }

    func allows(_ found: Access?) -> Bool {
        guard let found else { return mayBeNone }
        return allowed.contains(found) && least.map { found >= $0 } ?? true
    }

    var text: String {
        let possible = allowed.map { $0.map { "\($0)" } ?? "nothing" }
        return "\(possible), at least \(least.map { "\($0)" } ?? "nothing")"
    }
}
