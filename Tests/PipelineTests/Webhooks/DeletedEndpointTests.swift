import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// What an endpoint was still to be sent when it was deleted.
@Suite struct DeletedEndpointTests {
    /// More than one write gives up, and none of another endpoint's.
    @Test func allOfItIsGivenUpAtTheNextSweep() async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.addEndpoint("first")
        try await shop.addEndpoint("second")
        for number in 1...Int64(210) { try await shop.show(CheckedShop.sold(number)) }
        let (deleted, kept) = (WebhookEndpointID(checked: "whe_first"), WebhookEndpointID(checked: "whe_second"))
        let before = try await Self.states(of: deleted, in: shop)
        #expect(before.count > 200)
        #expect(before.allSatisfy { $0 == .pending })
        try await shop.store.write { write throws(StoreFailure) in
            guard let endpoint = try write.endpoint(deleted) else { return }
            try write.deleteEndpoint(deleted, version: endpoint.version)
        }
        await Housekeeping(store: shop.store, clock: ManualClock(shop.now)).sweep()
        let after = try await Self.states(of: deleted, in: shop)
        #expect(after.count == before.count && after.allSatisfy { $0 == .dead })
        #expect(try await Self.states(of: kept, in: shop) == before)
        let last = try await shop.store.read { reader throws(StoreFailure) in
            try reader.deliveries(endpoint: deleted, state: .dead, before: nil, limit: 1).deliveries
        }
        #expect(last.map(\.deadReason) == ["endpoint_deleted"] && last.map(\.endedAt) == [shop.now])
        #expect(try await shop.findings().violations == 0)
    }

    private static func states(
        of endpoint: WebhookEndpointID,
        in shop: CheckedShop
    ) async throws -> [DeliveryState] {
        try await shop.store.read { reader throws(StoreFailure) in
            try reader.deliveries(endpoint: endpoint, state: nil, before: nil, limit: 500).deliveries.map(\.state)
        }
    }
}
