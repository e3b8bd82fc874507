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

    private static let left = 44

    let title: String
    /// What stands under some of the bars.
    let labels: [String]
    let layers: [Layer]
    /// How a number is shown at the axis.
    var text: (Int) -> String = Texts.count

    var html: HTML {
        let frame = ChartFrame(
            title: title,
            left: Self.left,
            highest: labels.indices.map { bar in layers.reduce(0) { $0 + $1.counts[bar] } }.max() ?? 0,
            text: text,
            legend: layers.map { Swatch(name: $0.name, style: $0.style) }
        )
        let step = max((ChartFrame.width - Self.left) / max(labels.count, 1), 1)
        return frame.html {
            for bar in labels.indices {
                stack(bar, x: Self.left + bar * step, width: max(step - 2, 1), in: frame)
                frame.label(labels, bar, at: Self.left + bar * step)
            }
        }
    }

    /// From the bottom up; what there is at all is at least a line high.
    private func stack(_ bar: Int, x: Int, width: Int, in frame: ChartFrame) -> HTML {
        var top = ChartFrame.bottom
        var sum = HTML()
        for layer in layers where layer.counts[bar] > 0 {
            let height = max(frame.height(of: layer.counts[bar]), 1)
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
