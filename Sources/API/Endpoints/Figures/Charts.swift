import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/charts/{name}` and `/v1/metrics/overview`: figures over time.
struct Charts: Sendable {
    let store: any Store
    let clock: any WallClock

    /// `GET /v1/metrics/overview`
    func overview(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let realm = try QueryFields(query, names: ["environment", "test_signed"]).realm()
            guard app.shows(realm) else { return Problem.notFound("store") }
            return await overview(realm, app.id)
        } catch {
            return error.response
        }
    }

    /// `GET /v1/charts/{name}`
    func chart(_ word: String, _ query: String?, app: AppPolicy) async -> HTTPResponse {
        guard let name = ChartName.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word.utf8) }) else {
            return Problem.notFound("chart")
        }
        let now = clock.now
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["environment", "test_signed", "from", "to", "currency"])
            let question = ChartQuestion(
                name,
                app: app.id,
                realm: try fields.realm(),
                days: try Self.days(fields, name, at: now),
                currency: try Self.currency(fields, name)
            )
            guard name.hasRealm ? app.shows(question.realm) : app.showsAll else { return Problem.notFound("store") }
            return await chart(question, at: now)
        } catch {
            return error.response
        }
    }

    private func overview(_ realm: Realm, _ app: AppID) async -> HTTPResponse {
        let now = clock.now
        do throws(StoreFailure) {
            let summary = try await store.read { reader throws(StoreFailure) in
                try reader.figureSummary(app: app, realm: realm, at: now)
            }
            return .json(.ok) { json in
                Self.write(realm, into: &json)
                Self.write(summary, into: &json)
            }
        } catch {
            return Problem.store(error)
        }
    }

    private func chart(_ question: ChartQuestion, at now: Timestamp) async -> HTTPResponse {
        do throws(StoreFailure) {
            let chart = try await store.read { reader throws(StoreFailure) in try reader.chart(question, at: now) }
            return .json(.ok) { json in
                json.member("name", chart.name.rawValue)
                json.member("title", chart.name.title)
                json.member("definition", chart.name.definition)
                json.member("unit", chart.name.unit.rawValue)
                json.member("grain", chart.name.grain.rawValue)
                if chart.name.hasRealm { Self.write(question.realm, into: &json) }
                if chart.name.unit == .milliunits { json.member("currency", question.currency) }
                json.array("points") { json in for day in chart.days { json.element(Self.text(day)) } }
                json.array("series") { json in
                    for line in chart.lines { json.object { Self.write(line, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ line: Chart.Line, into json: inout JSONObjectWriter) {
        json.member("name", line.name)
        json.array("values") { json in
            for value in line.values { if let value { json.element(value) } else { json.null() } }
        }
    }

    private static func write(_ realm: Realm, into json: inout JSONObjectWriter) {
        json.member("environment", realm.environment.rawValue)
        json.member("test_signed", realm.isTestSigned)
    }

    private static func write(_ summary: FigureSummary, into json: inout JSONObjectWriter) {
        json.member("days", FigureSummary.days)
        json.object("subscriptions") { json in
            for state in SubscriptionState.allCases { json.member(state.rawValue, summary.subscriptions[state] ?? 0) }
        }
        json.member("purchases", summary.purchases)
        json.member("trials", summary.trials)
        json.member("refunds", summary.refunds)
        json.member("price_unknown", summary.priceUnknown)
        json.member("renewals_due", summary.renewalsDue)
        json.array("revenue") { json in
            for currency in summary.currencies {
                json.object { json in
                    json.member("currency", currency)
                    json.member("gross", summary.revenue[currency] ?? 0)
                    json.member("refunded", summary.refunded[currency] ?? 0)
                    json.member("upgrade_credit", summary.upgradeCredit[currency] ?? 0)
                    json.member("net", summary.net(currency))
                    json.member("mrr", summary.recurring[currency] ?? 0)
                }
            }
        }
        json.member("mrr_unknown", summary.recurringUnknown)
        json.member("is_complete", !summary.isIncomplete)
    }

    // MARK: What is asked

    /// Without both ends a month of days, or a year of months, up to today; of what is to come, from today on.
    private static func days(
        _ fields: QueryFields,
        _ name: ChartName,
        at now: Timestamp
    ) throws(QueryFields.Fault) -> ClosedRange<DayOfTime> {
        let today = DayOfTime(containing: now)
        let (from, to) = (try day("from", fields), try day("to", fields))
        let last = to ?? (name.reach == .future ? (from ?? today).advanced(by: daysUsual - 1) : today)
        let first = from ?? (name.reach == .future ? min(today, last) : start(of: name, until: last, today))
        guard first <= last else { throw QueryFields.Fault(detail: "from is not after to.") }
        let months = MonthOfTime(containing: last).number - MonthOfTime(containing: first).number
        let points = 1 + (name.grain == .day ? last.number - first.number : months)
        guard points <= Int64(ChartQuestion.pointsMax) else {
            throw QueryFields.Fault(detail: "A chart has at most \(ChartQuestion.pointsMax) days or months.")
        }
        return first...last
    }

    private static let daysUsual: Int64 = 30
    private static let monthsUsual: Int64 = 12

    /// As many days before the last, or months before the last that is drawn, as are drawn where nobody says since when.
    private static func start(of name: ChartName, until last: DayOfTime, _ today: DayOfTime) -> DayOfTime {
        guard name.grain == .month else { return last.advanced(by: 1 - daysUsual) }
        let over = MonthOfTime(containing: today).advanced(by: name.reach == .finishedMonths ? -1 : 0)
        return min(MonthOfTime(containing: last), over).advanced(by: 1 - monthsUsual).firstDay
    }

    private static func day(_ name: String, _ fields: QueryFields) throws(QueryFields.Fault) -> DayOfTime? {
        guard let text = fields[name] else { return nil }
        let bytes = Array(text.utf8) + Array("T00:00:00Z".utf8)
        guard text.utf8.count == 10, let moment = RFC3339.milliseconds(bytes.span) else {
            throw QueryFields.Fault(detail: "\(name) is a day, such as 2026-11-22.")
        }
        return DayOfTime(containing: Timestamp(milliseconds: moment))
    }

    private static func currency(_ fields: QueryFields, _ name: ChartName) throws(QueryFields.Fault) -> String? {
        let text = fields["currency"]
        let isCode = text.map { $0.utf8.count == 3 && $0.utf8.allSatisfy { (0x41...0x5A).contains($0) } }
        if isCode == false || text == nil && name.unit == .milliunits {
            throw QueryFields.Fault(detail: "currency is three capital letters, such as USD; money has always one.")
        }
        return text
    }

    private static func text(_ day: DayOfTime) -> String? {
        RFC3339.text(milliseconds: day.start.milliseconds).map { String(decoding: $0.utf8.prefix(10), as: UTF8.self) }
    }
}
