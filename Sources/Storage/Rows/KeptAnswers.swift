package import PurchaseModel

/// Whose request it is, and the key that the client gave it: what makes two requests the same one.
package struct IdempotencyName: Hashable, Sendable {
    /// Who may use the key: keys of two holders never meet. 1 to 255 bytes of ASCII.
    package var holder: String
    /// The client's `Idempotency-Key`, 1 to 255 bytes of ASCII.
    package var key: String

    package init(holder: String, key: String) {
        self.holder = holder
        self.key = key
    }

    var isStorable: Bool { StorableText.isWord(holder) && StorableText.isWord(key) }
}

/// What was answered to a request, for the same request to be answered alike.
package struct KeptAnswer: Hashable, Sendable {
    /// Answers are ours, and short; what is longer is a fault of ours.
    package static let bodyBytesMax = 262_144

    package var name: IdempotencyName
    /// The digest of what was asked: another request under the same key is a mistake of the client.
    package var fingerprint: [UInt8]
    package var status: Int
    /// The answer's media type.
    package var contentType: String
    package var body: [UInt8]
    package var keptAt: Timestamp

    package init(
        name: IdempotencyName,
        fingerprint: [UInt8],
        status: Int,
        contentType: String,
        body: [UInt8],
        keptAt: Timestamp
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.status = status
        self.contentType = contentType
        self.body = body
        self.keptAt = keptAt
    }

    var isStorable: Bool {
        name.isStorable && (1...64).contains(fingerprint.count) && StorableText.isWord(contentType)
            && body.count <= Self.bodyBytesMax
    }
}
