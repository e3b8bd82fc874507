/// Writes DER, and the indefinite-length BER of Xcode's receipts, into one growing buffer.
///
/// It serves whoever makes receipts: the simulator and the tests.
package struct DERWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Encodes what `body` writes and hands back the bytes.
    package static func encode<Failure: Error>(
        _ body: (inout DERWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var writer = DERWriter()
        try body(&writer)
        return writer.bytes
    }

    /// A constructed element of definite length around whatever `body` writes.
    package mutating func constructed<Failure: Error>(
        _ tag: DERTag,
        _ body: (inout DERWriter) throws(Failure) -> Void
    ) throws(Failure) {
        let start = bytes.count
        try body(&self)
        bytes.insert(contentsOf: Self.header(tag, length: bytes.count - start), at: start)
    }

    package mutating func sequence<Failure: Error>(
        _ body: (inout DERWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try constructed(.sequence, body)
    }

    /// A constructed element of indefinite length (BER): `80`, the contents, `00 00`.
    package mutating func indefinite<Failure: Error>(
        _ tag: DERTag,
        _ body: (inout DERWriter) throws(Failure) -> Void
    ) throws(Failure) {
        bytes.append(tag.rawValue | 0x20)
        bytes.append(0x80)
        try body(&self)
        bytes.append(contentsOf: [0, 0])
    }

    /// A SET OF in DER's order: by encoded bytes, a shorter one first where it is a prefix (X.690 § 11.6).
    package mutating func set(of elements: [[UInt8]], tag: DERTag = .set) {
        constructed(tag) { writer in
            for element in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                writer.raw(element)
            }
        }
    }

    package mutating func primitive(_ tag: DERTag, _ content: some Collection<UInt8>) {
        bytes.append(contentsOf: Self.header(tag, length: content.count))
        bytes.append(contentsOf: content)
    }

    /// Bytes that are encoded already.
    package mutating func raw(_ encoded: some Sequence<UInt8>) {
        bytes.append(contentsOf: encoded)
    }

    package mutating func integer(_ value: Int64) {
        primitive(.integer, Self.octets(of: value))
    }

    /// A natural number of any size, most significant octet first, such as a certificate's serial number.
    package mutating func natural(_ magnitude: some Collection<UInt8>) {
        let significant = magnitude.drop(while: { $0 == 0 })
        guard let first = significant.first else { return integer(0) }
        primitive(.integer, (first & 0x80 != 0 ? [0] : []) + Array(significant))
    }

    package mutating func boolean(_ value: Bool) {
        primitive(.boolean, [value ? 0xFF : 0x00])
    }

    package mutating func null() {
        primitive(.null, [])
    }

    package mutating func objectID(_ id: DERObjectID) {
        primitive(.objectID, id.bytes)
    }

    package mutating func octetString(_ content: some Collection<UInt8>) {
        primitive(.octetString, content)
    }

    /// A BIT STRING of whole octets, such as a key or a signature in a certificate.
    package mutating func bitString(_ content: some Collection<UInt8>) {
        primitive(.bitString, [0] + Array(content))
    }

    package mutating func utf8String(_ text: String) {
        primitive(.utf8String, text.utf8)
    }

    /// The caller vouches that `text` is ASCII.
    package mutating func ia5String(_ text: String) {
        primitive(.ia5String, text.utf8)
    }

    /// The caller vouches that `text` has only the letters of PrintableString.
    package mutating func printableString(_ text: String) {
        primitive(.printableString, text.utf8)
    }

    private static func header(_ tag: DERTag, length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [tag.rawValue, UInt8(truncatingIfNeeded: length)] }
        var octets: [UInt8] = []
        var rest = length
        while rest > 0 {
            octets.append(UInt8(truncatingIfNeeded: rest & 0xFF))
            rest >>= 8
        }
        return [tag.rawValue, 0x80 | UInt8(truncatingIfNeeded: octets.count)] + octets.reversed()
    }

    /// Two's complement with as few octets as will hold the sign.
    private static func octets(of value: Int64) -> [UInt8] {
        var octets = (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (Int64($0) * 8)) }
        while octets.count > 1, octets[0] == (octets[1] & 0x80 == 0 ? 0x00 : 0xFF) {
            octets.removeFirst()
        }
        return octets
    }
}
