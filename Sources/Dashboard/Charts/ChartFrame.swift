/// What every picture of figures has: its size, an axis with the highest value, and a legend.
struct ChartFrame {
    static let (width, height, bottom, top) = (720, 180, 160, 12)

    let title: String
    /// Where the axis begins: as much as the longest number needs.
    let left: Int
    let highest: Int
    /// How a number is shown at the axis.
    let text: (Int) -> String
    /// Empty where nothing has to be told apart.
    let legend: [Swatch]

    func html(@HTMLBuilder _ content: () -> HTML) -> HTML {
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
                Self.line((left, Self.bottom), (Self.width, Self.bottom), "axis")
                content()
            }
            if !legend.isEmpty {
                element("ul", .class("legend")) { for swatch in legend { element("li") { swatch.html } } }
            }
        }
    }

    /// How high something is drawn.
    func height(of value: Int) -> Int {
        Int(Double(max(value, 0)) / Double(max(highest, 1)) * Double(Self.bottom - Self.top))
    }

    /// What stands under a place of the axis; of many some alone.
    @HTMLBuilder func label(_ labels: [String], _ index: Int, at x: Int) -> HTML {
        if index % max(labels.count / 6, 1) == 0 {
            element("text", .number("x", x), .number("y", Self.height - 4)) { labels[index] }
        }
    }

    static func line(_ from: (x: Int, y: Int), _ to: (x: Int, y: Int), _ style: StaticString) -> HTML {
        HTML(
            "line",
            [
                .class(style), .number("x1", from.x), .number("x2", to.x), .number("y1", from.y), .number("y2", to.y),
            ],
            content: HTML()
        )
    }
}

/// A colour and what it stands for.
struct Swatch {
    let name: String
    /// A class of the style sheet, which has its colour in both themes.
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
