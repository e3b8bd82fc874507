/// Why a text is no Base64, and at which byte. No case is worth another try with the same bytes.
package struct Base64Fault: Error, Equatable, Sendable {
    /// The words are stable: they may stand in answers and in counts.
    package enum Reason: String, Equatable, Sendable, CaseIterable {
        /// A byte outside the alphabet; white space too.
        case invalidCharacter = "invalid_character"
        /// A last group of one character, which no bytes encode to.
        case length
        /// Padding that is missing, superfluous or too short for what was asked.
        case padding
        /// The last character holds bits that belong to no byte and are not zero.
        case strayBits = "stray_bits"
    }

    package let reason: Reason
    /// Counted in bytes from the start of the text.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension Base64Fault: CustomStringConvertible {
    package var description: String { "\(reason.rawValue) at byte \(offset)" }
}
