import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Each endpoint's errors, by the rows of Apple's pages.
@Suite struct ServerAPIErrorTests {
    @Test(arguments: ErrorRow.all) func anErrorIsApples(row: ErrorRow) async throws {
        let shop = try Shop()
        let ids = try ids(shop)
        let path = row.path.utf8.map { ids[$0] ?? String(UnicodeScalar($0)) }.joined()
        let code = try await shop.code(row.method, path, query: row.query, body: row.body, in: row.environment)
        #expect(code == row.code)
    }

    /// The ids behind the signs in rows' paths.
    private func ids(_ shop: Shop) throws -> [UInt8: String] {
        for name in ["anna", "member"] { _ = try shop.simulator.perform(.setFamily(customer: name, family: "f")) }
        let month = try shop.buy("month")
        let coins = try shop.buy("coins")
        shop.pass(.seconds(301))
        let (renewed, copy, download) = shop.simulator.read { store in
            let copy = store.lines.values.first { $0.customer == "member" && $0.group == Shop.group }
            let download = store.customers["anna"]?.downloads[Shop.bundleID]?.appTransactionID
            return (store.lines[month]?.current, copy?.originalID, download)
        }
        let foreign = try shop.buy("coins", app: Shop.otherBundleID)
        return [
            ErrorRow.month: month.description, ErrorRow.coins: coins.description,
            ErrorRow.renewed: try #require(renewed).description, ErrorRow.copy: try #require(copy).description,
            ErrorRow.download: try #require(download), ErrorRow.foreign: foreign.description,
        ]
    }

    @Test func aFreeWeekCannotBeExtended() async throws {
        let shop = try Shop()
        let path = "/inApps/v1/subscriptions/extend/\(try shop.buy("trial"))"
        #expect(try await shop.code(.put, path, body: ErrorRow.terms("1", "0", "\"r\"")) == 4_030_004)
    }

    @Test func onlySubscriptionsAndConsumablesHaveTheFirstForm() async throws {
        let shop = try Shop()
        for (product, code) in [("door", 4_000_047), ("season", 4_000_047), ("coins", nil)] {
            let path = "/inApps/v1/transactions/consumption/\(try shop.buy(product))"
            #expect(try await shop.code(.put, path, body: ErrorRow.first()) == code)
        }
    }

    @Test func whoHasNoAppTransactionIsTold() async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        shop.simulator.change { $0.set(StoreCustomer(name: "anna", environment: .sandbox)) }
        #expect(try await shop.code(.get, "/inApps/v1/transactions/appTransactions/\(id)") == 4_040_019)
    }
}
