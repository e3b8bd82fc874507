package import PurchaseModel

/// A certificate of a chain that held, and when the first proof came with it.
package struct SeenCertificate: Hashable, Sendable {
    /// More than Apple gives out in a lifetime; a test authority may come near.
    package static let listedMax = 500

    /// 32 bytes.
    package let sha256: [UInt8]
    /// Its place in a chain: `root`, `intermediate` or `leaf`.
    package let role: String
    /// Who vouches for it: `apple` or `added_root`.
    package let vouchedBy: String
    package let subject: String
    package let issuer: String
    /// Hexadecimal, lower case.
    package let serial: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    package let firstSeenAt: Timestamp

    package init(
        sha256: [UInt8],
        role: String,
        vouchedBy: String,
        subject: String,
        issuer: String,
        serial: String,
        notBefore: Timestamp,
        notAfter: Timestamp,
        firstSeenAt: Timestamp
    ) {
        self.sha256 = sha256
        self.role = role
        self.vouchedBy = vouchedBy
        self.subject = subject
        self.issuer = issuer
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.firstSeenAt = firstSeenAt
    }

    /// Newest first; of one moment, by the digest.
    static func isListedBefore(_ one: SeenCertificate, _ other: SeenCertificate) -> Bool {
        one.firstSeenAt == other.firstSeenAt
            ? one.sha256.lexicographicallyPrecedes(other.sha256) : one.firstSeenAt > other.firstSeenAt
    }

    /// False when a part of it is none that a store can hold.
    var isStorable: Bool {
        sha256.count == 32 && StorableText.isWord(role) && StorableText.isWord(vouchedBy)
            && [subject, issuer, serial].allSatisfy(StorableText.isStorable)
    }
}
