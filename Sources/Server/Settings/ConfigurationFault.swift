/// One thing that is wrong with the configuration. It never repeats a secret.
struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    let origin: SettingOrigin
    /// The place as a file names it, such as `apps[0].environments[1]`, wherever the value came from; empty for the whole, and
    /// for a variable that is no setting.
    let path: String
    let message: String

    var description: String {
        let place =
            switch origin {
            case .standard: path
            case .file(let file): path.isEmpty ? file : "\(file): \(path)"
            case .environment(let name): isNamed(by: name) ? name : "\(name): \(path)"
            case .flag(let name): "--\(name)"
            }
        return place.isEmpty ? message : "\(place): \(message)"
    }

    /// Whether the variable's name says the path already, as that of a file with the value does, too.
    private func isNamed(by variable: String) -> Bool {
        let name = Setting.environmentName(of: path)
        return path.isEmpty || variable == name || variable == name + "_FILE"
    }
}

/// Everything that is wrong with a configuration, in the order in which it was read; one line each.
struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    let all: [ConfigurationFault]

    var description: String { all.map(\.description).joined(separator: "\n") }
}
