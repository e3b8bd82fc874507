import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Attempts that are written together leave the ledger as if each had been written alone, those answered with 410 first:
/// what an acknowledgement tells is told last, and of that a disabled endpoint is sent nothing.
@Suite struct SettledTogetherTests {
    private struct Left: Equatable {
        var written: [DeliveryOutcome?]
        var events: EventPage
        var deliveries: WebhookDeliveryPage
        var attempts: [[WebhookAttempt]]
        var fulfilments: [Fulfilment]
    }

    @Test(arguments: UInt64(0)..<60)
    func theLedgerIsTheSame(seed: UInt64) async throws {
        let together = try await left(seed: seed, isTogether: true)
        #expect(try await left(seed: seed, isTogether: false) == together)
        #expect(together.written.contains { $0 != nil })
    }

    @Test func aBatchAcknowledgesWhatItDelivers() async throws {
        let left = try await left(seed: nil, isTogether: true)
        #expect(left.events.events.count { $0.event.type == "delivery.acknowledged" } > 3)
        #expect(left.fulfilments.allSatisfy { $0.delivery != .pending && $0.delivery != .sent })
    }

    /// Has a shop's deliveries attempted, and says what that leaves.
    ///
    /// - Parameters:
    ///   - seed: decides what became of each, and which leases were lost; `nil` for a 2xx for all.
    ///   - isTogether: whether they are written in one commit.
    /// - Returns: all that could differ.
    /// - Throws: what the store throws.
    private func left(seed: UInt64?, isTogether: Bool) async throws -> Left {
        let shop = try CheckedShop(MemoryStore())
        try await shop.live()
        // What is left of it is to be delivered, and told by the refund alone.
        try await shop.show(CheckedShop.sold(8))
        try await shop.show(CheckedShop.refunded(CheckedShop.sold(8), percentage: 40_000))
        let id = WebhookEndpointID(checked: "whe_first")
        var random = SeededRandom(seed: seed ?? 0)
        let acknowledges = seed == nil || Bool.random(using: &random)
        try await shop.store.write { write throws(StoreFailure) in
            guard var endpoint = try write.endpoint(id) else { return }
            endpoint.concurrencyMax = 100
            endpoint.acknowledgesBy2xx = acknowledges
            _ = try write.updateEndpoint(endpoint)
        }
        let work = StoredWebhookWork(shop.store)
        let now = shop.now.advanced(by: .seconds(60))
        let terms = LeaseTerms(owner: LeaseOwner(checked: "node"), duration: LeaseTerms.durationMax, now: now)
        let batch = try #require(try await work.claim(id, limit: 100, terms: terms))
        var attempted = batch.deliveries.map { claimed in
            Self.attempted(claimed, batch.endpoint, seed == nil ? .delivered : Self.outcome(&random))
        }
        if seed != nil { attempted.shuffle(using: &random) }
        _ = attempted.partition { $0.outcome != .gone }
        var written: [DeliveryOutcome?] = []
        for part in isTogether ? [attempted] : attempted.map({ [$0] }) {
            written += try await work.finish(part, at: now.advanced(by: .seconds(1)))
        }
        #expect(try await shop.findings().violations == 0)
        let (found, keys) = (written, try (1...8).map { try shop.key($0) })
        return try await shop.store.read { [attempted] reader throws(StoreFailure) in
            let chains = try reader.transactions(keys).map(\.chain)
            return Left(
                written: found,
                events: try reader.events(
                    app: shop.app.id,
                    after: .start,
                    where: batch.endpoint.filter,
                    limit: EventPage.limitMax
                ),
                deliveries: try reader.deliveries(endpoint: id, state: nil, before: nil, limit: 500),
                attempts: try attempted.map { item throws(StoreFailure) in
                    try reader.attempts(of: item.claimed.delivery.id, limit: 9)
                },
                fulfilments: try reader.fulfilments(chains).sorted { left, right in
                    "\(left.transaction)" < "\(right.transaction)"
                }
            )
        }
    }

    private static func outcome(_ random: inout SeededRandom) -> DeliveryOutcome {
        switch Int.random(in: 0...7, using: &random) {
        case 0: .again(after: .seconds(5))
        case 1: .dead(because: "refused")
        case 2: .released
        case 3: .gone
        default: .delivered
        }
    }

    /// Of the tokens some are nobody's.
    private static func attempted(
        _ claimed: ClaimedDelivery,
        _ endpoint: WebhookEndpoint,
        _ outcome: DeliveryOutcome
    ) -> AttemptedDelivery {
        var claimed = claimed
        if outcome != .delivered, claimed.delivery.cursor.position % 3 == 0 { claimed.hold.token += 1 }
        let attempt = WebhookAttempt(
            number: claimed.hold.token,
            beganAt: claimed.event.learnedAt,
            milliseconds: 1,
            status: 200,
            failure: nil,
            address: nil,
            answer: []
        )
        return AttemptedDelivery(claimed: claimed, endpoint: endpoint, outcome: outcome, attempt: attempt)
    }
}
