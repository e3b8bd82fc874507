import Encoding

// Lists in the answers of the Server API, whose elements may be short.
extension AnswerReader {
    /// Apple's longest page has a hundred elements.
    private static let listMax = 2_000

    /// Empty when absent.
    mutating func texts(_ name: String) throws(FormatFault) -> [String] {
        guard let value = value(name) else { return [] }
        guard (value.array?.count ?? 0) <= Self.listMax else { throw .tooLarge(at: value.offset) }
        return try value.texts(name) ?? []
    }

    /// Each element is an object; empty when absent.
    mutating func list<Element>(
        _ name: String,
        _ make: (inout AnswerReader) throws(FormatFault) -> Element
    ) throws(FormatFault) -> [Element] {
        guard let value = value(name) else { return [] }
        guard let array = value.array else { throw .wrongType(field: name) }
        guard array.count <= Self.listMax else { throw .tooLarge(at: value.offset) }
        var elements: [Element] = []
        for element in array {
            var reader = try AnswerReader(element, name)
            elements.append(try make(&reader))
        }
        return elements
    }

    /// A text without which the object means nothing.
    mutating func required(_ name: String) throws(FormatFault) -> String {
        guard let text = try text(name) else { throw .missing(field: name) }
        return text
    }
}
