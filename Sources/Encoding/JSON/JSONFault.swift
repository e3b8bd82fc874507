/// Why a text was not taken as JSON, and at which byte. No case is worth another try with the same bytes.
package struct JSONFault: Error, Equatable, Sendable {
    /// The words are stable: they may stand in answers and in counts.
    package enum Reason: String, Equatable, Sendable, CaseIterable {
        /// The text is longer than ``JSONLimits/bytesMax``.
        case tooLong = "too_long"
        /// More containers inside one another than ``JSONLimits/depthMax``.
        case tooDeep = "too_deep"
        /// The text stops where more had to come; an empty text too.
        case unexpectedEnd = "unexpected_end"
        /// A byte that the grammar does not allow here: a trailing comma, a comment, a single quote …
        case unexpectedByte = "unexpected_byte"
        /// Something other than white space follows the value.
        case trailingBytes = "trailing_bytes"
        /// The text starts with U+FEFF.
        case byteOrderMark = "byte_order_mark"
        /// Not UTF-8: overlong, out of range, a surrogate, or cut off.
        case invalidUTF8 = "invalid_utf8"
        /// A byte below 0x20 inside a string.
        case controlCharacter = "control_character"
        /// A backslash that starts none of the nine escapes.
        case invalidEscape = "invalid_escape"
        /// `\uD800` … `\uDFFF` without its other half.
        case loneSurrogate = "lone_surrogate"
        /// `\u0000`: no database text can hold it.
        case nullCharacter = "null_character"
        /// A number with a leading zero, a bare point, an empty exponent …
        case invalidNumber = "invalid_number"
        /// A word that is not `true`, `false` or `null`.
        case invalidLiteral = "invalid_literal"
        /// An object names a member twice, however the name is escaped.
        case duplicateKey = "duplicate_key"
    }

    package let reason: Reason
    /// Counted in bytes from the start of the text.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONFault: CustomStringConvertible {
    package var description: String { "\(reason.rawValue) at byte \(offset)" }
}
