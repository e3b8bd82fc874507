package import PurchaseModel

/// What to draw.
package struct ChartQuestion: Hashable, Sendable {
    /// The most days or months that one chart has.
    package static let pointsMax = 400

    package var name: ChartName
    package var app: AppID
    package var realm: Realm
    package var days: ClosedRange<DayOfTime>
    /// Needed for money alone.
    package var currency: String?

    package init(
        _ name: ChartName,
        app: AppID,
        realm: Realm,
        days: ClosedRange<DayOfTime>,
        currency: String? = nil
    ) {
        self.name = name
        self.app = app
        self.realm = realm
        self.days = days
        self.currency = currency
    }
}

/// A chart with its numbers.
package struct Chart: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        package let name: String
        /// One for each day of the chart; `nil` for a share of nothing.
        package let values: [Int64?]
    }

    package let name: ChartName
    /// The days, or the first days of the months.
    package let days: [DayOfTime]
    package let lines: [Line]
}

extension ChartQuestion {
    /// The points of a chart, as far as they are to be drawn at a moment.
    ///
    /// - Parameter now: today is in it.
    /// - Returns: at most ``pointsMax``, the last ones.
    package func points(at now: Timestamp) -> [DayOfTime] {
        let today = DayOfTime(containing: now)
        var (first, last) = (days.lowerBound, days.upperBound)
        switch name.reach {
        case .past, .finishedMonths: last = min(last, today)
        case .future: first = max(first, today)
        }
        guard first <= last else { return [] }
        if name.grain == .day {
            let start = max(first.number, last.number - Int64(Self.pointsMax) + 1)
            return (start...last.number).map(DayOfTime.init(number:))
        }
        var end = MonthOfTime(containing: last)
        if name.reach == .finishedMonths { end = min(end, MonthOfTime(containing: today).advanced(by: -1)) }
        let begin = max(MonthOfTime(containing: first), end.advanced(by: 1 - Int64(Self.pointsMax)))
        guard begin <= end else { return [] }
        return (begin.number...end.number).map { MonthOfTime(number: $0).firstDay }
    }
}

extension StoreReader {
    /// A chart's numbers, of sums that are kept: no transaction is looked at.
    package func chart(_ question: ChartQuestion, at now: Timestamp) throws(StoreFailure) -> Chart {
        let points = question.points(at: now)
        let name = question.name
        guard let first = points.first, let last = points.last else {
            return Chart(name: name, days: [], lines: name.series.map { Chart.Line(name: $0.name, values: []) })
        }
        if name == .retention { return try retention(question, points, at: now) }
        let end = name.grain == .day ? last : MonthOfTime(containing: last).advanced(by: 1).firstDay.advanced(by: -1)
        var sums: [Measure: [DayOfTime: Int64]] = [:]
        var measures = Set(name.series.flatMap { $0.measures + $0.less + ($0.of ?? []) })
        // What is lost follows from it as well.
        if measures.contains(.renewalsLost) { measures.insert(.renewalsFailed) }
        for measure in measures { sums[measure] = try sum(of: measure, question, first...end) }
        Self.giveUp(&sums, at: now)
        if name.grain == .month { sums = sums.mapValues(Self.byMonth) }
        let lines = name.series.map { series in
            func total(_ measures: [Measure], _ day: DayOfTime) -> Int64 {
                measures.reduce(0) { $0 + (sums[$1]?[day] ?? 0) }
            }
            let values = points.map { day -> Int64? in
                let value = total(series.measures, day) - total(series.less, day)
                guard let of = series.of else { return value }
                let whole = total(of, day)
                return whole > 0 ? value * 10_000 / whole : nil
            }
            return Chart.Line(name: series.name, values: values)
        }
        return Chart(name: name, days: points, lines: lines)
    }

    /// Each point is a month in which subscriptions began, each line so many months later.
    private func retention(
        _ question: ChartQuestion,
        _ points: [DayOfTime],
        at now: Timestamp
    ) throws(StoreFailure) -> Chart {
        let months = points.map { MonthOfTime(containing: $0) }
        let cohorts = try cohorts(app: question.app, realm: question.realm, of: months, at: now)
        let lines = question.name.series.enumerated().map { place, series in
            let values = cohorts.map { cohort -> Int64? in
                guard cohort.size > 0, place < cohort.running.count else { return nil }
                return cohort.running[place] * 10_000 / cohort.size
            }
            return Chart.Line(name: series.name, values: values)
        }
        return Chart(name: question.name, days: points, lines: lines)
    }

    private func sum(
        of measure: Measure,
        _ question: ChartQuestion,
        _ days: ClosedRange<DayOfTime>
    ) throws(StoreFailure) -> [DayOfTime: Int64] {
        let rows = try figures(
            FigureQuestion(
                app: question.app,
                realm: question.name.hasRealm ? question.realm : nil,
                measure: measure,
                days: days,
                by: [.day]
            )
        )
        var found: [DayOfTime: Int64] = [:]
        for row in rows where !measure.isMoney || row.currency == question.currency {
            if let day = row.day { found[day, default: 0] += row.amount }
        }
        return found
    }

    private static func byMonth(_ days: [DayOfTime: Int64]) -> [DayOfTime: Int64] {
        var found: [DayOfTime: Int64] = [:]
        for (day, amount) in days { found[MonthOfTime(containing: day).firstDay, default: 0] += amount }
        return found
    }

    /// Of a day after which Apple has tried for as long as it does, what was not paid is lost, whether anybody said so or
    /// not: no row changes because time passes. The sums do not say what was a month of a commitment: the longest counts.
    private static func giveUp(_ sums: inout [Measure: [DayOfTime: Int64]], at now: Timestamp) {
        let tried = now.advanced(by: .zero - SubscriptionRules.longestRetry)
        for (day, failed) in sums[.renewalsFailed] ?? [:] where day.advanced(by: 1).start <= tried {
            let paid = [Measure.renewalsPaidInGrace, .renewalsPaidInRetry].reduce(0) { $0 + (sums[$1]?[day] ?? 0) }
            sums[.renewalsLost, default: [:]][day] = failed - paid
        }
    }
}
