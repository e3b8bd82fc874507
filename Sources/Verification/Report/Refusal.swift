/// Why evidence is not, or not yet, a fact. A retry mends only reasons whose verdict is `undecidable`.
package struct Refusal: Error, Hashable, Sendable {
    package let reason: Reason
    /// One sentence for the operator, with what was seen.
    package let detail: String?
    /// The field that differed from what was expected, when that is the reason.
    package let difference: Difference?

    init(_ reason: Reason, _ detail: String? = nil, difference: Difference? = nil) {
        self.reason = reason
        self.detail = detail
        self.difference = difference
    }
}

/// A field of the proof beside what was expected of it.
package struct Difference: Hashable, Sendable {
    package let field: String
    package let expected: String
    package let found: String
}
