/// A table of data: with a caption, and a scope for each heading. It scrolls by itself where it is wider than the page.
struct Table {
    let html: HTML

    init(_ caption: String, _ headings: [String], @HTMLBuilder rows: () -> HTML) {
        html = element("div", .class("scroll"), .word("tabindex", "0"), .word("role", "region"), .label(caption)) {
            element("table") {
                element("caption") { caption }
                element("thead") {
                    element("tr") { for heading in headings { element("th", .word("scope", "col")) { heading } } }
                }
                element("tbody") { rows() }
            }
        }
    }
}
