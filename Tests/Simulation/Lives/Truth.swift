import PurchaseModel
import Simulator

/// How a subscription stands by the simulator's own books.
struct LineTruth: Hashable, Sendable {
    let status: SubscriptionLine.Status
    let current: TransactionID
    let product: ProductID
    let expiresAt: Timestamp
    let graceEndsAt: Timestamp?
    let willAutoRenew: Bool
    let nextProduct: ProductID

    init(_ line: SubscriptionLine, in store: SimulatedStore) {
        status = store.status(of: line)
        current = line.current
        product = store.transactions[line.current]?.fact.product ?? line.nextProduct
        expiresAt = line.expiresAt
        graceEndsAt = line.failure?.graceEndsAt
        willAutoRenew = line.willAutoRenew
        nextProduct = line.nextProduct
    }

    /// How it stands later for whoever hears nothing more: what was paid for ends, then the grace, then Apple's patience.
    func status(at now: Timestamp) -> SubscriptionLine.Status {
        switch status {
        case .expired, .revoked: return status
        case .active: return now < expiresAt ? .active : .expired
        case .gracePeriod, .billingRetry:
            if now >= expiresAt.advanced(by: .seconds(60 * 86_400)) { return .expired }
            return graceEndsAt.map { now < $0 } ?? false ? .gracePeriod : .billingRetry
        }
    }

    /// Until when it may be used.
    func accessUntil(at now: Timestamp) -> Timestamp? {
        switch status(at: now) {
        case .active: expiresAt
        case .gracePeriod: graceEndsAt
        case .expired, .billingRetry, .revoked: nil
        }
    }
}

/// One transaction by the simulator's own books; moments to the second, since receipts know no more.
struct PurchaseTruth: Hashable, Sendable {
    let original: TransactionID
    let product: ProductID
    let kind: ProductKind?
    let ownership: Ownership?
    let quantity: Int
    let purchasedAt: Int64
    let expiresAt: Int64?
    let revokedAt: Int64?
    let isUpgraded: Bool

    init(_ fact: Transaction) {
        original = fact.originalID ?? fact.id
        product = fact.product
        kind = fact.kind
        ownership = fact.ownership
        quantity = fact.quantity
        purchasedAt = fact.purchasedAt.wholeSeconds
        // The store moves the end of a family member's copy that was taken back, and tells nobody.
        let isCopyGone = fact.ownership == .familyShared && fact.revocation != nil
        expiresAt = isCopyGone ? nil : fact.expiresAt?.wholeSeconds
        revokedAt = fact.revocation?.at.wholeSeconds
        isUpgraded = fact.isUpgraded
    }
}

/// A thing's truths one after the other, each from its moment on.
struct History<Truth: Hashable & Sendable>: Sendable {
    private(set) var entries: [(from: Timestamp, truth: Truth)] = []

    mutating func note(_ truth: Truth, at now: Timestamp) {
        if entries.last?.truth != truth { entries.append((now, truth)) }
    }

    var newest: Truth? { entries.last?.truth }
    var changes: Int { entries.count }

    /// What was true at any moment from then on; whether there also was a moment before the first of all.
    func since(_ moment: Timestamp) -> (truths: [Truth], wasAbsent: Bool) {
        let before = entries.lastIndex { $0.from <= moment }
        return (entries[(before ?? 0)...].map(\.truth), before == nil)
    }
}

/// What was true when, of everything in a store.
struct TruthBook: Sendable {
    private(set) var lines: [TransactionID: History<LineTruth>] = [:]
    private(set) var purchases: [TransactionID: History<PurchaseTruth>] = [:]
    /// Of lines and transactions.
    private(set) var environments: [TransactionID: StoreEnvironment] = [:]
    private(set) var customers: [TransactionID: String] = [:]
    private var seen: [TransactionID: SoldTransaction] = [:]

    mutating func note(_ store: SimulatedStore) {
        for line in store.lines.values {
            lines[line.originalID, default: History()].note(LineTruth(line, in: store), at: store.now)
            environments[line.originalID] = line.environment
            customers[line.originalID] = line.customer
        }
        for (id, sold) in store.transactions where seen[id] != sold {
            seen[id] = sold
            purchases[id, default: History()].note(PurchaseTruth(sold.fact), at: store.now)
            environments[id] = sold.environment
            customers[id] = sold.customer
        }
    }
}

extension Timestamp {
    /// As receipts cut moments.
    var wholeSeconds: Int64 { milliseconds / 1_000 }
}
