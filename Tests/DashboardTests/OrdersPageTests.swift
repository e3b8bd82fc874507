import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// The page of orders: how far they come, which they are, what waits.
@Suite struct OrdersPageTests {
    /// The cells of the rows of a table, by the heading of each row.
    private static func cells(_ page: HTTPResponse, _ heading: String) -> [String] {
        guard let start = page.text.range(of: "<th scope=\"row\">\(heading)</th>") else { return [] }
        let rest = page.text[start.upperBound...]
        let row = rest[..<(rest.firstRange(of: "</tr>")?.lowerBound ?? rest.endIndex)]
        return row.matches(of: /<td class="number">([^<]*)<\/td>/).map { String($0.1) }
    }

    @Test func anEmptyLedgerHasItsPage() async throws {
        let acting = try await ActingDesk(.viewer)
        let page = await acting.browser.get("/dashboard/orders")
        #expect(page.status == .ok)
        #expect(Self.cells(page, "Created") == ["0", "–", "–"])
        #expect(page.text.contains("aria-current=\"page\">Orders"))
    }

    @Test func ordersAreCountedStepByStep() async throws {
        let acting = try await ActingDesk()
        for number in 0..<4 { try await acting.place(OrderID(checked: "order\(number)")) }
        try await acting.buy(1)
        try await acting.buy(2)
        try await acting.cancel(OrderID(checked: "order3"))
        #expect(await acting.act(ActingDesk.transaction("/acknowledge", 1)).status == .seeOther)
        let page = await acting.browser.get("/dashboard/orders")
        #expect(Self.cells(page, "Created") == ["4", "100.0 %", "100.0 %"])
        #expect(Self.cells(page, "Paid") == ["2", "50.0 %", "50.0 %"])
        #expect(Self.cells(page, "Delivered") == ["1", "25.0 %", "50.0 %"])
        #expect(Self.cells(page, "Cancelled") == ["1", "25.0 %"])
        #expect(Self.cells(page, "Granted") == ["2", "100.0 %", "100.0 %"])
        #expect(Self.cells(page, "Acknowledged") == ["1", "50.0 %", "50.0 %"])
        // None of it is of the sandbox, and none was placed in the days before.
        let sandbox = await acting.browser.get("/dashboard/orders?side=sandbox")
        #expect(Self.cells(sandbox, "Granted") == ["0", "–", "–"])
        acting.desk.clock.advance(by: .seconds(2 * 86_400))
        _ = await acting.browser.signIn("olga")
        #expect(Self.cells(await acting.browser.get("/dashboard/orders?days=1"), "Created") == ["0", "–", "–"])
        let week = await acting.browser.get("/dashboard/orders?days=7")
        #expect(Self.cells(week, "Created") == ["4", "100.0 %", "100.0 %"])
    }

    @Test func aCustomersNewestOrdersAreShownWhateverTheirIDs() async throws {
        let acting = try await ActingDesk()
        for number in (100..<160).reversed() {
            try await acting.place(OrderID(checked: "order\(number)"))
            acting.desk.clock.advance(by: .seconds(1))
        }
        let address = ActingDesk.address("/customer", [("app", "shop"), ("id", ActingDesk.hostile)])
        let page = await acting.browser.get(address)
        let shown = page.text.matches(of: />order([0-9]+)</).compactMap { Int($0.1) }
        #expect(shown == Array(100..<150))
    }

    @Test func theListIsByStateAndStoreAndGoesOn() async throws {
        let acting = try await ActingDesk()
        for number in 100..<160 {
            try await acting.place(OrderID(checked: "order\(number)"))
            acting.desk.clock.advance(by: .seconds(1))
        }
        try await acting.buy(1)
        let first = await acting.browser.get("/dashboard/orders?state=pending")
        #expect(first.text.contains(">order159<"))
        #expect(!first.text.contains(">order105<"))
        let mark = try #require(first.text.range(of: "before="))
        let place = String(first.text[mark.upperBound...].prefix { $0 != "\"" })
        let second = await acting.browser.get("/dashboard/orders?state=pending&before=\(place)")
        #expect(second.text.contains(">order109<"))
        #expect(!second.text.contains(">order159<"))
        #expect(!second.text.contains("Older orders"))
        // The oldest was paid.
        for target in ["state=paid", "side=production", "state=paid&side=production"] {
            let paid = await acting.browser.get("/dashboard/orders?" + target)
            #expect(paid.text.contains(">order100<"), "\(target)")
            #expect(!paid.text.contains(">order101<"), "\(target)")
        }
        for target in ["state=delivered", "side=sandbox"] {
            #expect(!(await acting.browser.get("/dashboard/orders?" + target).text.contains(">order100<")), "\(target)")
        }
    }

    @Test(arguments: [AdminRole.viewer, .operator]) func whatWaitsLeadsToWhereItIsAttached(role: AdminRole) async throws
    {
        let acting = try await ActingDesk(role)
        for number in Int64(1)...30 { try await acting.buy(number) }
        try await acting.place(acting.order, product: ActingDesk.pro)
        let page = await acting.browser.get("/dashboard/orders")
        #expect(page.isEscaped)
        #expect(page.text.contains("/dashboard/transaction?app=shop&amp;id=1\""))
        #expect(page.text.contains("no order"))
        #expect(page.text.contains("Choose an order") == (role == .operator))
        #expect(page.body.count < 100_000)
        let mark = try #require(page.text.range(of: "&amp;waiting_original="))
        let place = page.text[mark.upperBound...].prefix { $0 != "\"" }.replacing("&amp;", with: "&")
        let next = await acting.browser.get("/dashboard/orders?waiting_original=" + place)
        #expect(next.text.contains("id=30\""))
        #expect(!next.text.contains("More that wait"))
    }
}
