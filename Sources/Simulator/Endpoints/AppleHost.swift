/// The host that a request was meant for, when it comes to the simulator in Apple's place.
enum AppleHost {
    /// The name in a `Host` field: in lower case and without its port; nil when there is no such field.
    static func name(inField field: String?) -> String? {
        guard let field else { return nil }
        let name = field.utf8.prefix { $0 != UInt8(ascii: ":") }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: name, as: UTF8.self)
    }
}
