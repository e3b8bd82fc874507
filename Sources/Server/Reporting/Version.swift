/// What this binary calls itself.
enum Version {
    static let text = "0.1.0"
}
