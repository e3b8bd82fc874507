/// Puts the next look at subscriptions off, because somebody has taken it in hand: what comes of it says when the one
/// after that is.
///
/// - Parameters:
///   - subscriptions: as they were read in the same write.
///   - moment: when they are due again, should whoever has them never come back.
/// - Returns: what to write.
package func puttingOff(_ subscriptions: [RecordedSubscription], until moment: Timestamp) -> Decision {
    var decision = Decision()
    decision.subscriptions = subscriptions.map { subscription in
        var row = subscription
        row.nextLook = moment
        row.version += 1
        return .update(row)
    }
    return decision
}
