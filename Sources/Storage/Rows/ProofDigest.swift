/// The SHA-256 of a proof's bytes as they were received.
package struct ProofDigest: Hashable, Sendable {
    package static let byteCount = 32

    /// Exactly ``byteCount`` bytes.
    package let bytes: [UInt8]

    /// `nil` unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
