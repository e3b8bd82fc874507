/// One value or key on the tape.
struct JSONNode: Sendable {
    enum Kind: UInt8, Sendable {
        case object, array
        /// A string that stands in the text as it is.
        case plainString
        /// A string that holds at least one backslash.
        case escapedString
        /// A number without point and exponent.
        case integer
        case decimal
        case yes, no, null
    }

    let kind: Kind
    /// First byte; of a string the one after the quotation mark.
    let start: UInt32
    /// One past the last byte; of a string the closing quotation mark.
    var end: UInt32
    /// The node after this value and all that it holds. While a container is open: the container around it.
    var next: UInt32
    /// Members of an object, elements of an array.
    var count: UInt32

    var isString: Bool { kind == .plainString || kind == .escapedString }
    var range: Range<Int> { Int(start)..<Int(end) }
}
