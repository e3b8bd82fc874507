/// One thing that is wrong with the configuration. It never repeats a secret.
struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    let origin: SettingOrigin
    /// The place inside the origin, such as `apps[0].environments[1]`; empty for the whole.
    let path: String
    let message: String

    var description: String {
        let place =
            switch origin {
            case .standard: path
            case .file(let file): path.isEmpty ? file : "\(file): \(path)"
            case .environment(let name): path.isEmpty ? name : "\(name): \(path)"
            case .flag(let name): "--\(name)"
            }
        return place.isEmpty ? message : "\(place): \(message)"
    }
}

/// Everything that is wrong with a configuration, in the order in which it was read; one line each.
struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    let all: [ConfigurationFault]

    var description: String { all.map(\.description).joined(separator: "\n") }
}
