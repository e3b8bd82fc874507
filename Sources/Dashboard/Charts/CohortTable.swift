import PurchaseModel
import Storage

/// How many of the subscriptions that began in a month still ran so many months later.
struct CohortTable {
    let cohorts: [Cohort]

    @HTMLBuilder var html: HTML {
        element("h2") { "Retention by cohort" }
        element("p", .class("quiet")) {
            """
            Subscriptions by the month in which they began, and how many in a hundred of them ran at the first moment of each \
            month after it.
            """
        }
        let begun = cohorts.filter { $0.size > 0 }
        if begun.isEmpty {
            element("p") { "Nothing yet." }
        } else {
            let most = begun.map(\.running.count).max() ?? 0
            let counted = ["Subscriptions"] + (0..<most).map { "+\($0 + 1)" }
            Table("Retention by cohort", ["Began"] + counted.map(Table.Heading.number)) {
                for cohort in begun { row(cohort, most) }
            }.html
        }
    }

    private func row(_ cohort: Cohort, _ most: Int) -> HTML {
        element("tr") {
            element("th", .word("scope", "row")) { ChartText.day(cohort.month.firstDay, .month) }
            element("td", .class("number")) { Texts.count(Int(cohort.size)) }
            for step in 0..<most {
                element("td", .class("number")) {
                    step < cohort.running.count ? "\(cohort.running[step] * 100 / cohort.size) %" : ""
                }
            }
        }
    }
}
