/// What can be wrong with a ledger. Stable words; docs/operations.md explains each.
package enum ViolationCode: String, Hashable, Sendable, CaseIterable {
    // Any row.
    /// A row holds what no version of ours writes.
    case rowUnreadable = "row_unreadable"
    /// Something points to what is on the other side of the wall between stores.
    case wallCrossed = "wall_crossed"

    // Proofs.
    /// A transaction names a proof that is not there.
    case evidenceMissing = "evidence_missing"
    /// A proof's bytes are not those of its digest.
    case proofAltered = "proof_altered"
    /// A submission says when it was settled or how, and not both.
    case submissionHalfSettled = "submission_half_settled"

    // What was given.
    /// Two rows are one transaction.
    case recordedTwice = "recorded_twice"
    case fulfilmentWithoutTransaction = "fulfilment_without_transaction"
    /// It stands in a chain that is not its transaction's.
    case chainContradicts = "chain_contradicts"
    /// One transaction has two of them.
    case fulfilledTwice = "fulfilled_twice"
    /// Two of one chain are the only grant of the same.
    case unitGrantedTwice = "unit_granted_twice"
    /// What goes with its state is missing, or what does not is there.
    case grantIncomplete = "grant_incomplete"
    /// Nobody owns its chain.
    case ownerMissing = "owner_missing"
    /// It is reversed and Apple did not take the transaction back, or the other way round.
    case revocationContradicts = "revocation_contradicts"
    /// Another part is reversed than Apple took back.
    case reversalDiffers = "reversal_differs"

    // Orders.
    /// It names an order that is not there.
    case orderMissing = "order_missing"
    /// An order and what was given for it do not name each other, or are not for the same.
    case orderContradicts = "order_contradicts"
    /// An order's state does not go with its payment.
    case orderStateContradicts = "order_state_contradicts"

    // Subscriptions.
    /// A period is recorded, and there is no subscription of its chain.
    case subscriptionMissing = "subscription_missing"
    /// It is not what its newest period and Apple's last word on its renewal make of it.
    case subscriptionContradicts = "subscription_contradicts"

    // Balances.
    case postingGap = "posting_gap"
    /// It moves nothing, or not from one account to another, or does not say for what.
    case postingContradicts = "posting_contradicts"
    case walletMissing = "wallet_missing"
    /// A balance is not the sum of its postings.
    case balanceDiffers = "balance_differs"
    /// What was given and taken back is not what was posted for it.
    case amountsDiffer = "amounts_differ"

    /// A figure over time is not the sum of what the rows come to that it counts.
    case figureDiffers = "figure_differs"

    // What Apple asks, and what it is asked.
    /// Its notification is not there, or is about something else.
    case consumptionWithoutNotification = "consumption_without_notification"
    /// It is about a transaction that is not recorded.
    case consumptionWithoutTransaction = "consumption_without_transaction"
    /// Its state does not go with its answer, or with when it was settled.
    case consumptionContradicts = "consumption_contradicts"
    /// A question to Apple that no version of ours asks, or whose state does not go with its answer.
    case supportContradicts = "support_contradicts"
    /// It waits, and there is no job that goes on with it.
    case requestAbandoned = "request_abandoned"

    // What was told.
    case eventGap = "event_gap"
    case sequenceGap = "sequence_gap"
    /// An event stands in the feed before an earlier one of its stream.
    case eventOutOfOrder = "event_out_of_order"
    /// More or fewer changes of deliveries, or of what was granted by hand, were made than told.
    case changesUntold = "changes_untold"
    /// What was granted by hand is not what was last told of it.
    case grantedContradicts = "granted_contradicts"
    case deliveryMissing = "delivery_missing"
    case deliveryWithoutEvent = "delivery_without_event"
    /// A delivery is not of its event's customer, or its state does not go with the rest.
    case deliveryContradicts = "delivery_contradicts"

    /// A row of the audit log is not as it was noted, or does not follow the one that it followed then.
    case auditChainBroken = "audit_chain_broken"
}

extension ViolationCode {
    /// What whoever runs the server can do.
    package var advice: String {
        switch self {
        case .rowUnreadable, .recordedTwice, .proofAltered, .evidenceMissing, .submissionHalfSettled, .wallCrossed:
            "something else wrote to the database: compare with a backup"
        case .fulfilmentWithoutTransaction, .chainContradicts, .fulfilledTwice, .unitGrantedTwice, .grantIncomplete,
            .ownerMissing:
            "compare with a backup; present the proof again, and adjust what was given once too often"
        case .revocationContradicts, .reversalDiffers, .subscriptionMissing, .subscriptionContradicts:
            "assay rebuild shows what the rules make of it, and mends it"
        case .orderMissing, .orderContradicts, .orderStateContradicts:
            "compare with the shop's orders and a backup before anything is delivered"
        case .balanceDiffers: "assay rebuild sums the postings up again"
        case .figureDiffers: "assay rebuild counts the figures again"
        case .postingGap, .postingContradicts, .walletMissing, .amountsDiffer:
            "postings are never changed: compare with a backup"
        case .consumptionWithoutNotification, .consumptionWithoutTransaction, .consumptionContradicts,
            .supportContradicts:
            "something else wrote to the database: compare with a backup"
        case .requestAbandoned: "answer it by hand, or ask once more; a dead letter of it can be run again"
        case .eventGap, .sequenceGap, .eventOutOfOrder, .changesUntold:
            "consumers may have missed something: have them read the customer's transactions anew"
        case .grantedContradicts: "something else wrote to the database: compare with a backup, grant or revoke it anew"
        case .deliveryMissing: "replay the event to the endpoint"
        case .deliveryWithoutEvent, .deliveryContradicts: "compare with a backup; replay the event to the endpoint"
        case .auditChainBroken:
            "something else wrote to the database, or a server of an older version: compare with a backup, and with the "
                + "heads that were noted elsewhere; --audit-from leaves alone what was looked into"
        }
    }
}
