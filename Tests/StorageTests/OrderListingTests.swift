import PurchaseModel
import Storage
import Testing

/// An app's orders by how far they have come, page by page; and those that may still be paid.
@Suite struct OrderListingTests {
    private static func order(
        _ number: Int,
        placedAt: Int64,
        _ state: OrderState,
        app: String = "game",
        token: AccountToken? = nil
    ) throws -> Order {
        let placed = Timestamp(milliseconds: placedAt)
        let order = Order(
            app: try Samples.app(app),
            id: try #require(OrderID("order-\(number)")),
            customer: try Samples.customer("ann"),
            product: try #require(ProductID("coins")),
            quantity: 1,
            accountToken: token,
            placedAt: placed,
            expiresAt: placed.advanced(by: .seconds(60))
        )
        return Order(order, state: state, changedAt: placed, payment: nil, refunded: 0, version: 1)
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

    /// A customer may have given up many times; what she pays is what she waits for.
    @Test(arguments: StoreKind.allCases)
    func whatWaitsIsPaidBeforeWhatGaveUp(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            let gaveUp = try (0..<Order.openMax + 10).map {
                try Self.order(100 + $0, placedAt: Int64($0), .expired, token: token)
            }
            let waits = try (0..<3).map {
                try Self.order(20 - $0, placedAt: 10_000 + Int64($0 / 2), .pending, token: token)
            }
            let others = try [OrderState.paid, .cancelled].enumerated().map { place, state in
                try Self.order(place, placedAt: 0, state, token: token)
            }
            var decision = Decision()
            decision.orders = (gaveUp + waits + others).shuffled().map { .insert($0) }
            let written = decision
            try await store.write { transaction throws(StoreFailure) in try transaction.apply(written, evidence: nil) }
            let wish = WishKey(app: waits[0].app, customer: waits[0].customer, product: waits[0].product)
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.openOrders(wishes: [wish]),
                    try reader.openOrders(tokens: [TokenKey(app: wish.app, token: token)])
                )
            }
            let expected = [waits[1], waits[0], waits[2]] + gaveUp.prefix(Order.openMax - 3)
            #expect(found.0 == expected)
            #expect(found.1 == expected)
        }
    }
}
