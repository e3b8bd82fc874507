import Pipeline
import PurchaseModel
import Storage
import Testing

/// How far a delivery has come when several endpoints are told of it. Apple is told of that when it asks for a refund.
@Suite struct ToldProgressTests {
    /// Each row: what becomes of the message at two endpoints, one after the other; and how far the delivery is then.
    @Test(arguments: [
        ("first answers", "sent"), ("first answers, second dies", "sent"), ("first dies, second answers", "sent"),
        ("first dies", "pending"), ("first dies, second dies", "failed"), ("first is gone, second dies", "failed"),
        ("first dies, second dies, first answers", "sent"), ("first answers, second is deleted", "sent"),
        ("first is deleted", "pending"), ("first is deleted, second dies", "failed"),
        ("first dies, second is deleted", "failed"), ("first is deleted, second is deleted", "failed"),
        ("first is deleted, second answers", "sent"),
        ("first answers while it is deleted, second is deleted", "sent"),
        ("second is deleted, first answers while another sends it in vain", "sent"),
    ])
    func oneReceiversSilenceUnsaysNoOthersAnswer(story: String, progress: String) async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.addEndpoint("first")
        try await shop.addEndpoint("second")
        try await shop.show(CheckedShop.sold(1))
        for step in story.split(separator: ", ") {
            let words = step.split(separator: " ", maxSplits: 1).map(String.init)
            try await Self.happen(words[1], at: WebhookEndpointID(checked: "whe_\(words[0])"), shop)
        }
        let key = try shop.key(1)
        let given = try await shop.store.read { reader throws(StoreFailure) in
            try reader.fulfilments(try reader.transactions([key]).map(\.chain))
        }
        #expect(given.map(\.delivery?.rawValue) == [progress])
        #expect(try await shop.findings().violations == 0)
    }

    private static func happen(_ what: String, at id: WebhookEndpointID, _ shop: CheckedShop) async throws {
        let now = shop.now.advanced(by: .seconds(60))
        if what == "is deleted" { return try await delete(id, shop, at: now) }
        // What has ended is sent once more.
        _ = try await shop.store.write { write throws(StoreFailure) in
            try write.replayDeliveries(.dead, endpoint: id, after: .start, limit: 10, at: now)
        }
        let outcomes: [String: DeliveryOutcome] = ["dies": .dead(because: "refused"), "is gone": .gone]
        let attempted = try await attempt(outcomes[what] ?? .delivered, at: id, shop, now)
        var isLost = true
        switch what {
        case "answers while it is deleted": try await delete(id, shop, at: now)
        case "answers while another sends it in vain":
            let later = now.advanced(by: LeaseTerms.durationMax + .seconds(1))
            let another = try await attempt(.dead(because: "refused"), at: id, shop, later)
            _ = try await StoredWebhookWork(shop.store).finish(another, at: later)
        default: isLost = false
        }
        let written = try await StoredWebhookWork(shop.store).finish(attempted, at: now)
        #expect(written == [isLost ? nil : attempted[0].outcome])
    }

    private static func delete(_ id: WebhookEndpointID, _ shop: CheckedShop, at now: Timestamp) async throws {
        try await shop.store.write { write throws(StoreFailure) in
            guard let endpoint = try write.endpoint(id) else { throw .conflict }
            try write.deleteEndpoint(id, version: endpoint.version)
            _ = try LedgerRequests.giveUp(id, limit: 10, at: now, in: write)
        }
    }

    /// Claims what is to be sent and has it answered; nothing of the answer is noted yet.
    private static func attempt(
        _ outcome: DeliveryOutcome,
        at id: WebhookEndpointID,
        _ shop: CheckedShop,
        _ now: Timestamp
    ) async throws -> [AttemptedDelivery] {
        let terms = LeaseTerms(owner: LeaseOwner(checked: "node"), duration: LeaseTerms.durationMax, now: now)
        let batch = try #require(try await StoredWebhookWork(shop.store).claim(id, limit: 10, terms: terms))
        return batch.deliveries.map { claimed in
            let attempt = WebhookAttempt(
                number: claimed.hold.token,
                beganAt: now,
                milliseconds: 1,
                status: 200,
                failure: nil,
                address: nil,
                answer: []
            )
            return AttemptedDelivery(claimed: claimed, endpoint: batch.endpoint, outcome: outcome, attempt: attempt)
        }
    }
}
