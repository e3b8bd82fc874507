/// A command line that cannot be obeyed.
struct UsageFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the process ends with.
    static let exitCode: Int32 = 2

    let message: String
    /// What to do instead.
    let hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    var description: String { message + (hint.map { " (\($0))" } ?? "") }
}
