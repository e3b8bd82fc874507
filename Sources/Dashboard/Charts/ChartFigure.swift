import PurchaseModel
import Storage

/// A chart with what it counts in plain words, and its numbers as a table.
struct ChartFigure {
    private static let styles: [StaticString] = ["first", "second", "third", "fourth", "fifth"]

    let chart: Chart
    /// What the numbers are of, such as a currency.
    var subject = ""

    private var name: ChartName { chart.name }
    private var title: String { subject.isEmpty ? name.title : "\(name.title), \(subject)" }

    @HTMLBuilder var html: HTML {
        element("h2") { title }
        element("p", .class("quiet")) { name.definition }
        if isEmpty {
            element("p") { "Nothing yet." }
        } else {
            picture
            element("details") {
                element("summary") { "The same as a table" }
                table
            }
        }
    }

    private var isEmpty: Bool { !chart.lines.contains { $0.values.contains { ($0 ?? 0) != 0 } } }

    private var picture: HTML {
        let labels = chart.days.map { ChartText.label($0, name.grain) }
        let unit = name.unit
        let text = { (value: Int) in ChartText.value(Int64(value), unit) }
        if name.grain == .month, name != .movements {
            let lines = zip(chart.lines, Self.styles).map { line, style in
                LineChart.Line(
                    name: ChartText.words(line.name),
                    style: style,
                    values: line.values.map { $0.map(Int.init) }
                )
            }
            return LineChart(title: title, labels: labels, lines: lines, text: text).html
        }
        let layers = zip(drawn, Self.styles).map { line, style in
            StackedBars.Layer(
                name: ChartText.words(line.name),
                style: style,
                counts: line.values.map { Int(max($0 ?? 0, 0)) }
            )
        }
        return StackedBars(title: title, labels: labels, layers: layers, text: text).html
    }

    /// Net, refunds and credits are together what came in, and what became of failed renewals is together those that failed:
    /// that is not drawn once more.
    private var drawn: [Chart.Line] {
        chart.lines.filter { line in
            switch name {
            case .revenue: line.name != "gross"
            case .recovery: line.name != "failed"
            default: true
            }
        }
    }

    private var table: HTML {
        let moments = Table.Heading(name.grain == .day ? "Day" : "Month")
        return Table(title, [moments] + chart.lines.map { .number(ChartText.words($0.name)) }) {
            for (index, day) in chart.days.enumerated() {
                element("tr") {
                    element("th", .word("scope", "row")) { ChartText.day(day, name.grain) }
                    for line in chart.lines {
                        element("td", .class("number")) { ChartText.value(line.values[index], name.unit) }
                    }
                }
            }
        }.html
    }
}
