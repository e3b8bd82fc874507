// What the shop hears of a proof that had to wait, once it is decided.
extension Draft {
    /// Tells that a proof waits no more, where nothing that is told of its purchases says so to whoever brought it: all of
    /// it was known before, or is another customer's.
    mutating func tellEnd(of settled: SettledSubmission?) {
        guard let settled, !decision.tellsOfPurchases(to: settled.customer) else { return }
        tell(.submissionSettled, settled.stream, happenedAt: settled.settledAt, .submission(settled))
    }
}

extension Decision {
    /// Whether its events tell somebody of a purchase that stands in the proof, or that a chain is hers from now on. Who named
    /// nobody is told by whatever is told of such a purchase.
    package func tellsOfPurchases(to customer: CustomerID?) -> Bool {
        if events.isEmpty { return false }
        let brought = Set(outcomes.map(\.recorded.key))
        return events.contains { event in
            guard customer == nil || event.stream.customer == customer else { return false }
            return switch event.subject {
            case .fulfilment(let fulfilment, _): brought.contains(fulfilment.key)
            case .transfer(_, _, let other): other == customer
            default: false
            }
        }
    }
}
