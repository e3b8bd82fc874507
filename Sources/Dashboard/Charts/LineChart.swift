/// Lines over months. The figures stand in a table beside it; the picture repeats them.
struct LineChart {
    /// One colour, and its name in the legend.
    struct Line {
        let name: String
        /// A class of the style sheet, which has its colour in both themes.
        let style: StaticString
        /// One for each label; a gap where there is none.
        let values: [Int?]
    }

    private static let left = 64
    /// Room for the last label, which begins where the last point is.
    private static let right = 56

    let title: String
    let labels: [String]
    let lines: [Line]
    let text: (Int) -> String

    var html: HTML {
        let frame = ChartFrame(
            title: title,
            left: Self.left,
            highest: max(lines.flatMap { $0.values.compactMap(\.self) }.max() ?? 0, 1),
            text: text,
            legend: lines.count > 1 ? lines.map { Swatch(name: $0.name, style: $0.style) } : []
        )
        return frame.html {
            for line in lines { draw(line, in: frame) }
            for index in labels.indices { frame.label(labels, index, at: x(index)) }
        }
    }

    @HTMLBuilder private func draw(_ line: Line, in frame: ChartFrame) -> HTML {
        let points = line.values.indices.map { index in
            line.values[index].map { (x: x(index), y: ChartFrame.bottom - frame.height(of: $0)) }
        }
        for index in points.indices {
            if let point = points[index] {
                HTML(
                    "circle",
                    [.class(line.style), .number("cx", point.x), .number("cy", point.y), .number("r", 3)],
                    content: HTML()
                )
                if index > 0, let before = points[index - 1] { ChartFrame.line(before, point, line.style) }
            }
        }
    }

    private func x(_ index: Int) -> Int {
        let step = (ChartFrame.width - Self.left - Self.right) / max(labels.count - 1, 1)
        return Self.left + 4 + index * step
    }
}
