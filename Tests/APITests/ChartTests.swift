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

    /// Days of 2025: TestHouse stands in November.
    private static func moment(_ day: String) throws -> Timestamp {
        Timestamp(milliseconds: try #require(RFC3339.milliseconds("2025-\(day)T00:00:00Z")))
    }

    private static func period(_ number: Int64, of original: Int64, _ start: String, _ end: String) throws -> String {
        var sold = try Sample.transaction(number, product: "com.example.demo.pro")
        sold.originalID = TransactionID(number: original)
        sold.kind = .autoRenewable
        (sold.purchasedAt, sold.expiresAt) = (try moment(start), try moment(end))
        sold.originallyPurchasedAt = sold.purchasedAt
        return try PurchaseSigner(TestAuthority.shared, app: try Sample.app()).transaction(sold)
    }

    /// Of two that began in August both ran on the first of September, and one of them on that of October.
    @Test func howManyStayIsToldByTheMonthInWhichTheyBegan() async throws {
        try await TestHouse().open { house in
            for proof in [
                try Self.period(9_800_001, of: 9_800_001, "08-10", "09-10"),
                try Self.period(9_800_002, of: 9_800_001, "09-10", "10-10"),
                try Self.period(9_800_003, of: 9_800_003, "08-20", "09-20"),
            ] {
                #expect(await house.submit(proof).status == .ok)
            }
            let query = Self.wall + "&from=2025-07-01&to=2025-08-31"
            let chart = try await house.get("/v1/charts/retention", query: query).json()
            #expect(chart["unit"]?.string == "basis_points")
            #expect(chart["points"]?.array?.compactMap(\.string) == ["2025-07-01", "2025-08-01"])
            let lines = try #require(chart["series"]?.array.map(Array.init))
            #expect(lines.map { $0.object?["name"]?.string } == (1...24).map { "month_\($0)" })
            let august = lines.map { line in line.object?["values"]?.array.map(Array.init)?[1].int64 }
            #expect(august.prefix(4) == [10_000, 5_000, 0, nil])
            // Nothing began in July.
            #expect(lines.allSatisfy { $0.object?["values"]?.array.map(Array.init)?[0].isNull ?? false })
        }
    }

    /// A period and what Apple says of its end, as a notification brings both.
    private static func failed(
        _ number: Int64,
        _ start: String,
        _ end: String,
        _ change: (inout Renewal) throws -> Void
    ) throws -> String {
        let original = try #require(TransactionID(number: number))
        var period = try Sample.transaction(number, product: "com.example.demo.pro")
        (period.originalID, period.kind) = (original, .autoRenewable)
        (period.purchasedAt, period.expiresAt) = (try moment(start), try moment(end))
        period.signedAt = try moment(end)
        var renewal = Renewal(originalID: original, product: period.product, signedAt: try moment(end))
        renewal.renewsAt = period.expiresAt
        try change(&renewal)
        var notice = Notice(uuid: "\(number)", type: "DID_FAIL_TO_RENEW", signedAt: renewal.signedAt)
        (notice.transaction, notice.renewal) = (period, renewal)
        return try PurchaseSigner(TestAuthority.shared, app: Sample.app()).notification(notice)
    }

    /// Of four that failed on one day of October one was paid in grace, one later, of one Apple has said that it is lost, and
    /// one is open. Of those of July the one that nobody has said anything more of is lost: Apple has stopped trying.
    @Test func whatBecameOfFailedRenewalsIsToldByTheDayOfTheTrouble() async throws {
        try await TestHouse().open { house in
            let grace = try Self.moment("10-26")
            for proof in [
                try Self.failed(9_810_001, "09-10", "10-10") { $0.graceEndsAt = grace },
                try Self.period(9_810_011, of: 9_810_001, "10-10", "11-10"),
                try Self.failed(9_810_002, "09-10", "10-10") { $0.isInBillingRetry = true },
                try Self.period(9_810_012, of: 9_810_002, "11-01", "12-01"),
                try Self.failed(9_810_003, "09-10", "10-10") { $0.expirationIntent = 2 },
                try Self.failed(9_810_004, "09-10", "10-10") { $0.isInBillingRetry = true },
                try Self.failed(9_810_005, "06-10", "07-10") { $0.isInBillingRetry = true },
                try Self.failed(9_810_006, "06-10", "07-10") { $0.isInBillingRetry = true },
                try Self.period(9_810_016, of: 9_810_006, "07-20", "08-20"),
            ] {
                #expect(await house.submit(proof).status == .ok)
            }
            let october = try await Self.lines(of: "recovery", "10-09", "10-10", house)
            #expect(october.map(\.name) == ["failed", "paid_in_grace", "paid_in_retry", "lost", "open"])
            #expect(october.map(\.values) == [[0, 4], [0, 1], [0, 1], [0, 1], [0, 1]])
            let july = try await Self.lines(of: "recovery", "07-10", "07-10", house)
            #expect(july.map(\.values) == [[2], [0], [1], [1], [0]])
            let rate = try await Self.lines(of: "recovery_rate", "06-01", "10-31", house)
            #expect(rate.map(\.name) == ["recovered", "in_grace", "in_retry"])
            #expect(rate[0].values == [nil, 5_000, nil, nil, 6_666])
            #expect(rate[1].values == [nil, 0, nil, nil, 3_333])
            #expect(rate[2].values == [nil, 5_000, nil, nil, 3_333])
        }
    }

    private static func lines(
        of chart: String,
        _ from: String,
        _ to: String,
        _ house: TestHouse
    ) async throws -> [(name: String?, values: [Int64?])] {
        let query = wall + "&from=2025-\(from)&to=2025-\(to)"
        let series = try await house.get("/v1/charts/\(chart)", query: query).json()["series"]
        return try #require(series?.array).map { line in
            (line.object?["name"]?.string, line.object?["values"]?.array?.map(\.int64) ?? [])
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
            #expect(points == (name.grain == .month ? 12 : 30) && series.count == name.series.count)
            for line in series { #expect(line.object?["values"]?.array?.count == points) }
        }
    }

    @Test(arguments: [
        "charts/mrr", "charts/mrr?currency=usd", "charts/refunds?from=2026-02-30", "charts/refunds?from=yesterday",
        "charts/refunds?from=2025-01-02&to=2025-01-01", "charts/refunds?from=2020-01-01&to=2025-01-01",
        "charts/churn?from=1993-01-01&to=2026-11-29", "charts/churn?from=1992-07-31", "charts/refunds?app=demo",
        "charts/refunds?environment=moon", "metrics/overview?from=2025-01-01",
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

    /// As many points as there are days or months between them, and no end is moved.
    @Test(arguments: [
        ("subscribers", "from=1992-08-31", 400, "1992-08-01"), ("churn", "from=1992-08-31", 399, "1992-08-01"),
        ("subscribers", "to=2024-03-31", 12, "2023-04-01"), ("churn", "to=2024-03-01", 12, "2023-04-01"),
        ("mrr", "from=2025-10-31&to=2025-11-01", 2, "2025-10-01"), ("refunds", "from=2024-10-17", 400, "2024-10-17"),
    ])
    func theFirstPointIsWhereItIsAsked(chart: String, query: String, count: Int, first: String) async throws {
        try await TestHouse().open { house in
            let drawn = try await house.get("/v1/charts/\(chart)", query: "currency=EUR&\(query)").json()
            let points = try #require(drawn["points"]?.array).compactMap(\.string)
            #expect(points.count == count && points.first == first)
        }
    }

    @Test func whatIsNoChartIsNotFound() async throws {
        try await TestHouse().open { house in
            #expect(await house.get("/v1/charts/nothing").status == .notFound)
            #expect(await house.get("/v1/charts/MRR").status == .notFound)
        }
    }
}
