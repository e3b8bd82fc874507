/// A table of data: with a caption, and a scope for each heading. It scrolls by itself where it is wider than the page.
struct Table {
    /// What stands above a column, and at which side: numbers stand at the right, and their heading with them.
    struct Heading: ExpressibleByStringLiteral {
        let text: String
        let isOfNumbers: Bool

        static func number(_ text: String) -> Heading { Heading(text, isOfNumbers: true) }

        init(_ text: String, isOfNumbers: Bool = false) {
            self.text = text
            self.isOfNumbers = isOfNumbers
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    let html: HTML

    init(_ caption: String, _ headings: [Heading], @HTMLBuilder rows: () -> HTML) {
        html = element("div", .class("scroll"), .word("tabindex", "0"), .word("role", "region"), .label(caption)) {
            element("table") {
                element("caption") { caption }
                element("thead") {
                    element("tr") {
                        for heading in headings {
                            if heading.isOfNumbers {
                                element("th", .word("scope", "col"), .class("number")) { heading.text }
                            } else {
                                element("th", .word("scope", "col")) { heading.text }
                            }
                        }
                    }
                }
                element("tbody") { rows() }
            }
        }
    }

    /// One in whose columns no numbers stand.
    init(_ caption: String, _ headings: [String], @HTMLBuilder rows: () -> HTML) {
        self.init(caption, headings.map { Heading($0) }, rows: rows)
    }
}
