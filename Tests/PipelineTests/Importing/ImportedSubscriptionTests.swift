import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// Books tell of a subscription's first month, and she has paid ever since: nobody sends a notification of what was charged long
/// ago, and her app presents nothing.
@Suite struct ImportedSubscriptionTests {
    /// What the old system has kept of her.
    enum Kept: CaseIterable { case number, receipt }

    @Test(arguments: Kept.allCases) func whoPaysHasHerAccessAgain(kept: Kept) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try house.buy("pro.monthly")
            let proof = kept == .number ? Array(sold.id.description.utf8) : try house.receipt()
            for _ in 0..<400 { house.pass(.seconds(86_400)) }
            let step = try await ImporterTests.importer(house).take(
                [ImporterTests.row(1, proof)],
                after: ImportProgress(id: try ImporterTests.id(), app: house.app.id, startedAt: house.clock.now),
                report: nil
            )
            #expect(step.outcomes.map(\.kind) == [kept == .number ? .asked : .recorded])
            let imported = house.clock.now
            for _ in 0..<16 {
                try await house.work()
                house.pass(.seconds(2 * 3_600))
            }
            let chain = ChainKey(
                app: house.app.id,
                realm: Realm(environment: .production, isTestSigned: true),
                original: sold.id
            )
            let (row, given) = try await house.store.read { reader throws(StoreFailure) in
                (try reader.subscriptions([chain]).first, try reader.fulfilments([chain]))
            }
            #expect(row?.state == .active && row?.expiresAt.map { $0 > house.clock.now } == true)
            #expect(given.count > 10 && given.allSatisfy { $0.state == .granted && $0.customer?.text == "ann" })
            // The old system delivered all that was bought before the import, and no event tells of it.
            #expect(given.allSatisfy { $0.isImported == ($0.purchasedAt < imported) })
            let (app, filter) = (house.app.id, EventFilter(realms: [chain.realm]))
            let told = try await house.store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: .start, where: filter, limit: 100).events.map(\.event.type)
            }
            #expect(told.isEmpty || given.contains { $0.purchasedAt >= imported }, "\(told)")
            #expect(house.calls.values.count < 12, "\(house.calls.values)")
        }
    }
}
