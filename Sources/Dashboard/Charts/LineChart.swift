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

    private static let (width, height, bottom, left, top) = (720, 180, 160, 64, 12)

    let title: String
    let labels: [String]
    let lines: [Line]
    let text: (Int) -> String

    private var highest: Int { max(lines.flatMap { $0.values.compactMap(\.self) }.max() ?? 0, 1) }

    var html: HTML {
        element("figure") {
            element(
                "svg",
                .class("chart"),
                .word("role", "img"),
                .label(title),
                .word("viewBox", "0 0 720 180"),
                .word("xmlns", "http://www.w3.org/2000/svg")
            ) {
                element("text", .number("x", 0), .number("y", 14)) { text(highest) }
                element("text", .number("x", 0), .number("y", Self.bottom)) { "0" }
                line(Self.left, Self.bottom, Self.width, Self.bottom, "axis")
                for line in lines { draw(line) }
                for index in labels.indices where index % max(labels.count / 6, 1) == 0 {
                    element("text", .number("x", x(index)), .number("y", Self.height - 4)) { labels[index] }
                }
            }
            if lines.count > 1 { legend }
        }
    }

    private var legend: HTML {
        element("ul", .class("legend")) {
            for line in lines { element("li") { Swatch(name: line.name, style: line.style).html } }
        }
    }

    @HTMLBuilder private func draw(_ line: Line) -> HTML {
        for index in line.values.indices {
            if let value = line.values[index] {
                dot(x(index), y(value), line.style)
                if index > 0, let before = line.values[index - 1] {
                    self.line(x(index - 1), y(before), x(index), y(value), line.style)
                }
            }
        }
    }

    private func x(_ index: Int) -> Int {
        let step = (Self.width - Self.left - 44) / max(labels.count - 1, 1)
        return Self.left + 4 + index * step
    }

    private func y(_ value: Int) -> Int {
        let share = max(value, 0).multipliedReportingOverflow(by: Self.bottom - Self.top).partialValue
        return Self.bottom - share / highest
    }

    private func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int, _ style: StaticString) -> HTML {
        HTML(
            "line",
            [.class(style), .number("x1", x1), .number("y1", y1), .number("x2", x2), .number("y2", y2)],
            content: HTML()
        )
    }

    private func dot(_ x: Int, _ y: Int, _ style: StaticString) -> HTML {
        HTML("circle", [.class(style), .number("cx", x), .number("cy", y), .number("r", 3)], content: HTML())
    }
}

/// A colour and what it stands for.
struct Swatch {
    let name: String
    let style: StaticString

    @HTMLBuilder var html: HTML {
        element("svg", .word("viewBox", "0 0 8 8"), .word("aria-hidden", "true")) {
            HTML(
                "rect",
                [.class(style), .number("x", 0), .number("y", 0), .number("width", 8), .number("height", 8)],
                content: HTML()
            )
        }
        " \(name)"
    }
}
