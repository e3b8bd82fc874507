/// Who decided a value. Later ones outdo earlier ones.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case standard
    case file(String)
    case environment(String)
    case flag(String)

    var description: String {
        switch self {
        case .standard: "default"
        case .file(let path): "file \(path)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag --\(name)"
        }
    }
}
