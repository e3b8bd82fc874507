/// A piece of a page. Names of elements and attributes are ours and stand in the source (`StaticString`); whatever else
/// goes in is text, and is escaped on its way: there is no way to put markup in.
package struct HTML: Sendable, Equatable {
    private(set) var bytes: [UInt8] = []

    /// Nothing at all.
    init() {}

    init(text: String) { Escaping.append(text, to: &bytes) }

    /// An element with its content, or one without an end, such as `input`.
    init(_ name: StaticString, _ attributes: [Attribute], content: HTML?) {
        bytes.append(UInt8(ascii: "<"))
        bytes += name.description.utf8
        for attribute in attributes { attribute.append(to: &bytes) }
        bytes.append(UInt8(ascii: ">"))
        guard let content else { return }
        bytes += content.bytes
        bytes += "</".utf8
        bytes += name.description.utf8
        bytes.append(UInt8(ascii: ">"))
    }

    /// Puts another piece behind this one, in place: a page of many pieces is not copied for each of them.
    mutating func append(_ other: HTML) { bytes += other.bytes }

    static func + (left: HTML, right: HTML) -> HTML {
        var sum = left
        sum.append(right)
        return sum
    }

    /// A whole document.
    func document() -> [UInt8] { Array("<!doctype html>\n".utf8) + bytes }
}

/// An attribute of an element: its name is ours, its value is escaped.
struct Attribute: Sendable {
    private let name: StaticString
    /// `nil` for one that is there or not, such as `required`.
    private let value: String?

    private init(_ name: StaticString, _ value: String?) {
        self.name = name
        self.value = value
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: " "))
        bytes += name.description.utf8
        guard let value else { return }
        bytes += "=\"".utf8
        Escaping.append(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// One whose value says nothing about what a browser does: a word of ours.
    static func word(_ name: StaticString, _ value: StaticString) -> Attribute {
        Attribute(name, value.description)
    }

    static func flag(_ name: StaticString) -> Attribute { Attribute(name, nil) }

    /// A number, as in a chart.
    static func number(_ name: StaticString, _ value: Int) -> Attribute { Attribute(name, String(value)) }

    static func `class`(_ name: StaticString) -> Attribute { Attribute("class", name.description) }
    static func id(_ name: StaticString) -> Attribute { Attribute("id", name.description) }

    /// To the page's main part.
    static let hrefMain = Attribute("href", "#main")

    /// Where a link or a form leads: always to ourselves.
    static func href(_ address: Address) -> Attribute { Attribute("href", address.text) }
    static func action(_ address: Address) -> Attribute { Attribute("action", address.text) }

    /// What a field holds, or stands for.
    static func value(_ text: String) -> Attribute { Attribute("value", text) }
    static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
    static func moment(_ text: String) -> Attribute { Attribute("datetime", text) }
}
