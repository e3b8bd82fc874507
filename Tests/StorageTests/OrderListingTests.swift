import PurchaseModel
import Storage
import Testing

/// An app's orders by how far they have come, page by page.
@Suite struct OrderListingTests {
    private static func order(_ number: Int, placedAt: Int64, _ state: OrderState, app: String = "game") throws -> Order
    {
        let placed = Timestamp(milliseconds: placedAt)
        let order = Order(
            app: try Samples.app(app),
            id: try #require(OrderID("order-\(number)")),
            customer: try Samples.customer("ann"),
            product: try #require(ProductID("coins")),
            quantity: 1,
            accountToken: nil,
            placedAt: placed,
            expiresAt: placed.advanced(by: .seconds(60))
        )
        return Order(order, state: state, changedAt: placed, payment: nil, version: 1)
    }

    private static func pages(
        _ states: Set<OrderState>,
        since: Int64,
        limit: Int,
        in store: any Store
    ) async throws -> [PlacedOrders] {
        let app = try Samples.app()
        return try await store.read { reader throws(StoreFailure) in
            var (pages, place) = ([PlacedOrders](), OrderCursor?.none)
            repeat {
                let page = try reader.orders(
                    app: app,
                    states: states,
                    placedSince: Timestamp(milliseconds: since),
                    before: place,
                    limit: limit
                )
                pages.append(page)
                place = page.next
            } while place != nil
            return pages
        }
    }

    @Test(arguments: StoreKind.allCases)
    func pagesHoldEachOrderOnceTheNewestFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            // Three of each moment, so that the ids decide; and of each state some.
            let rows = try (0..<18).map { number in
                let state = OrderState.allCases[number % OrderState.allCases.count]
                return try Self.order(10 + number, placedAt: 1_000 + Int64(number / 3), state)
            }
            let elsewhere = try Self.order(1, placedAt: 1_001, .paid, app: "other")
            var decision = Decision()
            decision.orders = (rows + [elsewhere]).map { .insert($0) }
            let written = decision
            try await store.write { transaction throws(StoreFailure) in try transaction.apply(written, evidence: nil) }
            let wishes: [Set<OrderState>] = [
                [], [.paid], [.pending, .expired], Set(OrderState.allCases),
            ]
            for states in wishes {
                for since in [Int64(0), 1_002, 2_000] {
                    let expected = rows.reversed().filter {
                        states.contains($0.state) && $0.placedAt.milliseconds >= since
                    }
                    for limit in [1, 2, 5, 18, 500] {
                        let pages = try await Self.pages(states, since: since, limit: limit, in: store)
                        #expect(pages.flatMap(\.orders) == Array(expected))
                        #expect(pages.dropLast().allSatisfy { $0.orders.count == limit })
                    }
                }
            }
        }
    }
}
