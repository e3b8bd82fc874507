package import Encoding

/// Why bytes are not the shape that they claim to be. Trying again never helps.
///
/// `at` is an offset in the bytes that the parser was given, `field` the name that Apple gives the part.
package enum FormatFault: Error, Equatable, Sendable {
    /// The bytes end inside an element.
    case truncated(at: Int)
    /// Bytes follow the end of the value.
    case trailingBytes(at: Int)
    /// Nested deeper than any genuine value.
    case tooDeep(at: Int)
    /// Longer, or with more parts, than any genuine value.
    case tooLarge(at: Int)
    /// A length that its rules do not allow.
    case invalidLength(at: Int)
    /// A tag of several octets, or one of another kind than stands here in Apple's data.
    case unexpectedTag(UInt8, at: Int)
    /// A text form (plist, compact JWS, base64) that breaks its grammar.
    case invalidSyntax(at: Int)
    /// JSON that is not well formed, or not strict.
    case invalidJSON(JSONFault)
    /// The field's content cannot be what it stands for.
    case invalidValue(field: String)
    /// The field has another type than Apple gives it.
    case wrongType(field: String)
    /// A field that stands at most once is there again.
    case repeated(field: String)
    /// A field without which the value means nothing is absent.
    case missing(field: String)
    /// A version of the format that is not known.
    case unknownVersion(Int)
}

extension FormatFault {
    /// A stable word for counters and answers.
    package var reason: String {
        switch self {
        case .truncated: "truncated"
        case .trailingBytes: "trailing_bytes"
        case .tooDeep: "too_deep"
        case .tooLarge: "too_large"
        case .invalidLength: "invalid_length"
        case .unexpectedTag: "unexpected_tag"
        case .invalidSyntax: "invalid_syntax"
        case .invalidJSON: "invalid_json"
        case .invalidValue: "invalid_value"
        case .wrongType: "wrong_type"
        case .repeated: "repeated"
        case .missing: "missing"
        case .unknownVersion: "unknown_version"
        }
    }

    /// Where in the bytes, when the fault has a place.
    package var offset: Int? {
        switch self {
        case .truncated(let at), .trailingBytes(let at), .tooDeep(let at), .tooLarge(let at), .invalidLength(let at),
            .unexpectedTag(_, let at), .invalidSyntax(let at):
            at
        case .invalidJSON(let fault): fault.offset
        case .invalidValue, .wrongType, .repeated, .missing, .unknownVersion:
            nil
        }
    }

    /// Which field, when the fault has one.
    package var field: String? {
        switch self {
        case .invalidValue(let field), .wrongType(let field), .repeated(let field), .missing(let field): field
        default: nil
        }
    }
}
