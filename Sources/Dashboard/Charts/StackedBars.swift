/// Bars of a span of hours or days, each made of layers. The figures stand in a table beside it; the picture repeats them.
struct StackedBars {
    /// One colour, and its name in the legend.
    struct Layer {
        let name: String
        /// A class of the style sheet, which has its colour in both themes.
        let style: StaticString
        /// One for each bar.
        let counts: [Int]
    }

    private static let (width, height, bottom, left) = (720, 180, 160, 44)

    let title: String
    /// What stands under some of the bars.
    let labels: [String]
    let layers: [Layer]
    /// How a number is shown at the axis.
    var text: (Int) -> String = Texts.count

    private var highest: Int {
        labels.indices.map { bar in layers.reduce(0) { $0 + $1.counts[bar] } }.max() ?? 0
    }

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
                axis
                for bar in labels.indices { column(bar) }
            }
            element("ul", .class("legend")) {
                for layer in layers {
                    element("li") { Swatch(name: layer.name, style: layer.style).html }
                }
            }
        }
    }

    @HTMLBuilder private var axis: HTML {
        element("text", .number("x", 0), .number("y", 14)) { text(highest) }
        element("text", .number("x", 0), .number("y", Self.bottom)) { "0" }
        HTML(
            "line",
            [
                .class("axis"), .number("x1", Self.left), .number("x2", Self.width), .number("y1", Self.bottom),
                .number("y2", Self.bottom),
            ],
            content: HTML()
        )
    }

    @HTMLBuilder private func column(_ bar: Int) -> HTML {
        let step = max((Self.width - Self.left) / max(labels.count, 1), 1)
        let x = Self.left + bar * step
        stack(bar, x: x, width: max(step - 2, 1))
        if bar % max(labels.count / 6, 1) == 0 {
            element("text", .number("x", x), .number("y", Self.height - 4)) { labels[bar] }
        }
    }

    /// From the bottom up; what there is at all is at least a line high.
    private func stack(_ bar: Int, x: Int, width: Int) -> HTML {
        var top = Self.bottom
        var sum = HTML()
        for layer in layers where layer.counts[bar] > 0 {
            let share = layer.counts[bar].multipliedReportingOverflow(by: Self.bottom - 12).partialValue
            let height = max(share / max(highest, 1), 1)
            top -= height
            sum.append(rectangle(layer.style, x: x, y: top, width: width, height: height))
        }
        return sum
    }

    private func rectangle(_ style: StaticString, x: Int, y: Int, width: Int, height: Int) -> HTML {
        HTML(
            "rect",
            [
                .class(style), .number("x", x), .number("y", y), .number("width", width), .number("height", height),
            ],
            content: HTML()
        )
    }
}
