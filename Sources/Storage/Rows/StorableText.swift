import PurchaseModel

/// Which text every store can hold alike: at most ``bytesMax`` bytes of UTF-8, none of them NUL.
///
/// SQLite would keep a NUL and cut the text there in some functions; PostgreSQL refuses it.
enum StorableText {
    /// Far above any identifier of Apple's or ours, far below what would make a row spill over many pages.
    static let bytesMax = 4_096

    static func isStorable(_ text: String?) -> Bool {
        guard let text else { return true }
        let bytes = text.utf8.span
        if bytes.count > bytesMax { return false }
        for index in bytes.indices where bytes[index] == 0 { return false }
        return true
    }

    /// Words of our own, such as a verdict: 1 to 255 bytes of printable ASCII, so that equal text is equal bytes.
    static func isWord(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension RecordedTransaction {
    /// False when a text of it, or its environment, is none that a store can hold.
    var isStorable: Bool {
        RealmCode(realm) != nil && transaction.storedTexts.allSatisfy { StorableText.isStorable($0) }
    }
}

extension RecordedSubscription {
    /// The same. What comes of its transaction was checked with that.
    var isStorable: Bool {
        guard RealmCode(chain.realm) != nil, StorableText.isStorable(group) else { return false }
        return [renewal, renewal?.full].allSatisfy { $0?.isStorable ?? true }
    }
}

extension Renewal {
    fileprivate var isStorable: Bool {
        [
            environment?.rawValue, nextPrice?.currency, offer?.identifier, offer?.discount, offer?.period,
            nextBillingPlan, nextCommitment?.billingPlan,
        ].allSatisfy(StorableText.isStorable)
    }
}

extension ConsumptionRequest {
    /// The same.
    var isStorable: Bool { RealmCode(key.realm) != nil && [reason, ending].allSatisfy(StorableText.isStorable) }
}

extension AuditEntry {
    /// The same. What it is about may be named by a text of Apple's.
    var isStorable: Bool { [subject.text, actor, act, detail].allSatisfy(StorableText.isStorable) }
}

extension GrantedEntitlement {
    /// The same. Its reason is a person's.
    var isStorable: Bool {
        RealmCode(key.realm) != nil && [motive.actor, motive.reason].allSatisfy(StorableText.isStorable)
    }
}

extension Decision {
    /// Whether the proof that it follows from is to be kept: it told something new.
    func keeps(_ evidence: EvidenceRow) -> Bool { !changes.isEmpty || !subscriptions.isEmpty }

    /// Whether a store can hold it, with the proof.
    func isStorable(with evidence: EvidenceRow?) -> Bool {
        guard subscriptions.allSatisfy({ $0.row.isStorable }), consumptions.allSatisfy({ $0.row.isStorable }),
            audit.allSatisfy({ $0.isStorable }), grantedEntitlements.allSatisfy({ $0.row.isStorable })
        else { return false }
        guard changes.allSatisfy({ $0.recorded.isStorable }) else { return false }
        // Nothing is recorded, or recorded anew, without a proof.
        guard let evidence else { return changes.allSatisfy { if case .amend = $0 { true } else { false } } }
        return evidence.isStorable || !keeps(evidence)
    }
}

extension Transaction {
    /// The texts that are not checked by their own type.
    fileprivate var storedTexts: [String?] {
        [
            kind?.rawValue, reason?.rawValue, ownership?.rawValue, revocation?.type, offer?.identifier, offer?.discount,
            offer?.period, price?.currency, storefront, subscriptionGroup, webOrderLineItem, appTransaction,
            billingPlan,
        ] + (advancedCommerce?.items.map(\.sku) ?? [])
    }
}
