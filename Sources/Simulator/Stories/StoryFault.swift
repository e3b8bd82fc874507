/// What is wrong with a story or an act, and where. Whoever wrote it can mend it.
package struct StoryFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Such as `steps[3].product`; empty for the whole.
    package let path: String
    package let message: String

    package init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    package var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// Of a distance that leads beyond ``StoreTime``.
    static let tooLate = "leads beyond the year 8999"

    func inside(_ outer: String) -> StoryFault {
        StoryFault(path.isEmpty ? outer : "\(outer).\(path)", message)
    }
}
