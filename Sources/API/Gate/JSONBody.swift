import HTTP

/// Which bodies are looked at at all.
enum JSONBody {
    /// JSON by its media type, and not compressed: a compressed body could be a thousand times its size.
    static func isAnnounced(by fields: HTTPFields) -> Bool {
        guard let type = fields.single("Content-Type"), fields["Content-Encoding"] == nil else { return false }
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }.map { byte in
            (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        }
        return essence == Array("application/json".utf8)
    }
}
