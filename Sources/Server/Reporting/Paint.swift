import Glibc

/// Colours for a terminal: only where one is, and where nobody asked for none (no-color.org).
struct Paint: Sendable {
    let isOn: Bool

    static let none = Paint(isOn: false)

    init(isOn: Bool) { self.isOn = isOn }

    /// For standard output.
    init(_ environment: [String: String]) {
        let isWanted = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        isOn = isWanted && isatty(STDOUT_FILENO) == 1
    }

    func good(_ text: String) -> String { painted(text, 32) }
    func doubtful(_ text: String) -> String { painted(text, 33) }
    func bad(_ text: String) -> String { painted(text, 31) }
    func strong(_ text: String) -> String { painted(text, 1) }

    private func painted(_ text: String, _ code: Int) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
