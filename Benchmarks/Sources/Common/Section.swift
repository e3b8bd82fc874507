/// One table of what was measured.
struct Section: Encodable {
    let title: String
    let goal: String
    var columns: [String]
    var rows: [Row]

    struct Row: Encodable {
        let name: String
        /// `nil` where a column has no meaning for the row.
        let values: [Double?]
    }

    init(_ title: String, columns: [String], rows: [Row], goal: String) {
        self.title = title
        self.goal = goal
        self.columns = columns
        self.rows = rows
    }

    init(_ title: String, _ figures: [Figure], goal: String) {
        self.init(
            title,
            columns: ["µs", "± %", "per second", "ratio"],
            rows: figures.map { figure in
                Row(
                    name: figure.name,
                    values: [
                        figure.nanoseconds / 1_000, figure.spread * 100, 1e9 / figure.nanoseconds, figure.ratio,
                    ]
                )
            },
            goal: goal
        )
    }

    /// Columns of equal width, names first.
    var text: String {
        let nameWidth = rows.map(\.name.count).max() ?? 0
        var text = "\n\(title)\n(goal: \(goal))\n"
        text += "".padded(nameWidth) + columns.map { $0.leftPadded(16) }.joined() + "\n"
        for row in rows {
            text +=
                row.name.padded(nameWidth) + row.values.map { Section.digits($0 ?? .nan).leftPadded(16) }.joined()
                + "\n"
        }
        return text
    }

    /// Four significant digits, and no more than are before the point.
    private static func digits(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "–" }
        if value.magnitude >= 1_000 { return String(Int(value.rounded())) }
        let scale: Double = value.magnitude >= 100 ? 10 : value.magnitude >= 10 ? 100 : 1_000
        let scaled = Int((value * scale).rounded())
        let fraction = String(Int(scaled.magnitude) % Int(scale)).leftPadded(String(Int(scale)).count - 1, with: "0")
        return "\(scaled < 0 ? "-" : "")\(Int(scaled.magnitude) / Int(scale)).\(fraction)"
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate func leftPadded(_ width: Int, with filler: String = " ") -> String {
        String(repeating: filler, count: max(0, width - count)) + self
    }
}
