import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import Testing
import TestSupport

/// Figures over time, as the API answers them.
@Suite struct ChartTests {
    private static let wall = "environment=sandbox&test_signed=true"

    private static func jws(_ number: Int64, _ milliunits: Int64) throws -> String {
        var sold = try Sample.transaction(number)
        sold.price = Price(milliunits: milliunits, currency: "USD")
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
        return try signer.transaction(sold)
    }

    @Test func whatWasBoughtIsInTheOverviewAndInItsCharts() async throws {
        try await TestHouse().open { house in
            for (number, price) in [(1, 4_990), (2, 990)] as [(Int64, Int64)] {
                let proof = try Self.jws(number, price)
                #expect(await house.submit(proof).status == .ok)
            }
            let overview = try await house.get("/v1/metrics/overview", query: Self.wall).json()
            #expect(overview["purchases"]?.int64 == 2)
            let money = try #require(overview["revenue"]?.array?.first { _ in true }?.object)
            #expect(money["currency"]?.string == "USD")
            #expect(money["net"]?.int64 == 5_980)
            let other = try await house.get("/v1/metrics/overview").json()
            #expect(other["purchases"]?.int64 == 0)
            let query = Self.wall + "&currency=USD&from=2025-11-19&to=2025-11-20"
            let chart = try await house.get("/v1/charts/revenue", query: query).json()
            #expect(chart["unit"]?.string == "milliunits")
            #expect(chart["points"]?.array?.compactMap(\.string) == ["2025-11-19", "2025-11-20"])
            let series = try #require(chart["series"]?.array?.first { _ in true }?.object)
            #expect(series["name"]?.string == "net")
            #expect(series["values"]?.array?.compactMap(\.int64) == [0, 5_980])
        }
    }

    @Test(arguments: ChartName.allCases)
    func everyChartIsDrawnAlsoOfNothing(name: ChartName) async throws {
        try await TestHouse().open { house in
            let answer = await house.get("/v1/charts/\(name.rawValue)", query: "currency=EUR")
            #expect(answer.status == .ok)
            let chart = try answer.json()
            #expect(chart["title"]?.string == name.title)
            let points = try #require(chart["points"]?.array?.count)
            let series = try #require(chart["series"]?.array)
            #expect(points > 0 && series.count == name.series.count)
            for line in series { #expect(line.object?["values"]?.array?.count == points) }
        }
    }

    @Test(arguments: [
        "charts/mrr", "charts/mrr?currency=usd", "charts/refunds?from=2026-02-30", "charts/refunds?from=yesterday",
        "charts/refunds?from=2025-01-02&to=2025-01-01", "charts/refunds?from=2020-01-01&to=2025-01-01",
        "charts/refunds?app=demo", "charts/refunds?environment=moon", "metrics/overview?from=2025-01-01",
    ])
    func whatCannotBeDrawnIsRefused(target: String) async throws {
        try await TestHouse().open { house in
            let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
            let answer = await house.get("/v1/" + parts[0], query: parts.count > 1 ? parts[1] : nil)
            #expect(answer.status == .badRequest)
            let problem = try answer.json()
            #expect(problem["code"]?.string == "invalid_query")
        }
    }

    @Test func whatIsNoChartIsNotFound() async throws {
        try await TestHouse().open { house in
            #expect(await house.get("/v1/charts/nothing").status == .notFound)
            #expect(await house.get("/v1/charts/MRR").status == .notFound)
        }
    }
}
