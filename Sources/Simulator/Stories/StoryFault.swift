/// What is wrong with a story or an act, or what the store refused of it, and where. Whoever wrote it can mend it.
package struct StoryFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Such as `steps[3].product`; empty for the whole.
    package let path: String
    package let message: String
    /// The store's word, such as `already_owned`, where it understood and would not; nil where there is nothing to understand.
    package let refusal: String?

    package init(_ path: String, _ message: String, refusal: String? = nil) {
        self.path = path
        self.message = message
        self.refusal = refusal
    }

    package var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// Of a distance that leads beyond ``StoreTime``.
    static let tooLate = "leads beyond the year 8999"

    func inside(_ outer: String) -> StoryFault {
        StoryFault(path.isEmpty ? outer : "\(outer).\(path)", message, refusal: refusal)
    }
}
