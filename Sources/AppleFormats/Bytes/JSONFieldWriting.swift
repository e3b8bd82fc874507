import Encoding

/// Writes members of Apple's JSON objects that are more than one plain value.
extension JSONObjectWriter {
    mutating func texts(_ name: String, _ texts: [String]?) {
        guard let texts else { return }
        array(name) { array in
            for text in texts { array.element(text) }
        }
    }

    mutating func nested<Part>(
        _ name: String,
        _ part: Part?,
        _ write: (Part) -> (inout JSONObjectWriter) -> Void
    ) {
        guard let part else { return }
        object(name) { write(part)(&$0) }
    }

    /// Members that stay JSON; what is none is left out.
    mutating func others(_ others: [RawMember]) {
        for other in others {
            guard let document = try? JSONDocument(other.json) else { continue }
            member(other.name, document.root)
        }
    }
}
