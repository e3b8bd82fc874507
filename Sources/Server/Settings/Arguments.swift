/// The words after a command's name, sorted by its shape.
struct Arguments: Equatable, Sendable {
    /// The words that are no flags and no values of flags, in their order. A lone `-` is one.
    private(set) var positionals: [String] = []
    /// By the flag's name without hyphens; a switch has an empty text.
    private var given: [String: String] = [:]

    /// Whether `--help` or `-h` was among the words; then nothing else was checked.
    private(set) var wantsHelp = false

    /// - Throws: ``UsageFault`` for a flag that the command has not, one given twice, one without its value, a switch
    ///   with a value, or too many or too few words.
    init(_ words: [String], for command: CommandShape) throws(UsageFault) {
        if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            wantsHelp = true
            return
        }
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals.append(contentsOf: rest)
                break
            } else if word.hasPrefix("-"), word != "-" {
                try take(word, &rest, command)
            } else {
                positionals.append(word)
            }
        }
        if positionals.count > command.positionalsRange.upperBound {
            throw UsageFault("\"\(positionals[command.positionalsRange.upperBound])\" is one word too many")
        }
        if positionals.count < command.positionalsRange.lowerBound {
            throw UsageFault("\(command.positionals) is missing")
        }
    }

    func value(_ name: String) -> String? { given[name] }

    func isSet(_ name: String) -> Bool { given[name] != nil }

    /// All that was given, by the flags' names.
    var flags: [String: String] { given }

    private mutating func take(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        _ command: CommandShape
    ) throws(UsageFault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let flag = parts.first ?? word
        let names = command.options.map { "--" + $0.name }
        guard let option = command.options.first(where: { "--" + $0.name == flag }) else {
            throw UsageFault("there is no flag \(flag)" + Suggestion.phrase(for: flag, among: names + ["--help"]))
        }
        if isSet(option.name) { throw UsageFault("\(flag) stands there twice") }
        guard let valueName = option.value else {
            if parts.count > 1 { throw UsageFault("\(flag) takes no value") }
            given[option.name] = ""
            return
        }
        if parts.count > 1 {
            given[option.name] = parts[1]
        } else if let value = rest.first, !value.hasPrefix("--") {
            given[option.name] = value
            rest.removeFirst()
        } else {
            throw UsageFault("\(flag) needs a value", hint: "\(flag) \(valueName)")
        }
    }
}
