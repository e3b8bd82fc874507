import PurchaseModel

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

extension UsageFault {
    init(_ faults: ConfigurationFaults) { self.init("the configuration cannot be used:\n\(faults)") }

    /// Who has many is not shown all of them.
    private static let namesMax = 20

    /// An app that is none: a slip of the finger, most of the time.
    ///
    /// - Parameters:
    ///   - name: what was asked for.
    ///   - finding: where it is not, such as `the ledger has no app`.
    ///   - apps: those that there are.
    /// - Returns: the fault, with the app that may have been meant.
    static func unknownApp(_ name: String, _ finding: String, among apps: some Collection<AppID>) -> UsageFault {
        let names = apps.map(\.text).sorted()
        let listed = names.prefix(namesMax).joined(separator: ", ") + (names.count > namesMax ? ", …" : "")
        return UsageFault(
            "\(finding) \(name)" + Suggestion.phrase(for: name, among: names),
            hint: names.isEmpty ? nil : "there is \(listed)"
        )
    }
}
