/// Puts pieces of a page one behind the other. A `String` among them is text.
@resultBuilder
enum HTMLBuilder {
    static func buildExpression(_ piece: HTML) -> HTML { piece }
    static func buildExpression(_ text: String) -> HTML { HTML(text: text) }
    static func buildBlock(_ pieces: HTML...) -> HTML { buildArray(pieces) }
    static func buildOptional(_ piece: HTML?) -> HTML { piece ?? HTML() }
    static func buildEither(first piece: HTML) -> HTML { piece }
    static func buildEither(second piece: HTML) -> HTML { piece }
    static func buildArray(_ pieces: [HTML]) -> HTML {
        var sum = HTML()
        for piece in pieces { sum.append(piece) }
        return sum
    }
}

/// An element with its content.
func element(
    _ name: StaticString,
    _ attributes: Attribute...,
    @HTMLBuilder content: () -> HTML = { HTML() }
) -> HTML {
    HTML(name, attributes, content: content())
}

/// An element that has no content, such as `input`.
func empty(_ name: StaticString, _ attributes: Attribute...) -> HTML {
    HTML(name, attributes, content: nil)
}
