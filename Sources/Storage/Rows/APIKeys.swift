package import PurchaseModel

/// What an API key is called: `key_…`. It is no secret.
package struct APIKeyID: PrefixedID {
    package static let prefix = "key_"

    package let text: String

    package init(checked text: String) { self.text = text }
}

/// A key that somebody made over the API; the secret itself is kept nowhere.
package struct APIKeyRow: Hashable, Sendable {
    /// How many are listed, those that are over among them; older ones only while they are in force.
    package static let listedMax = 200

    package let id: APIKeyID
    package let app: AppID
    /// Who holds it. A key and the one that takes its place have the same.
    package let name: String
    /// `publishable` or `secret`.
    package let kind: String
    /// What it may do, as words.
    package let scopes: [String]
    /// The stores whose proofs it may bring; `nil` for all of its app.
    package let environments: [String]?
    /// Of the secret; 32 bytes.
    package let sha256: [UInt8]
    /// The secret's last characters, for people to tell keys apart.
    package let hint: String
    package let createdAt: Timestamp
    /// The name of the key that made it.
    package let createdBy: String
    /// From then on it is refused; `nil` for never.
    package var expiresAt: Timestamp?
    package var revokedAt: Timestamp?
    /// To the hour.
    package var lastUsedAt: Timestamp?
    /// 1 when it is new.
    package var version: Int64

    package init(
        id: APIKeyID,
        app: AppID,
        name: String,
        kind: String,
        scopes: [String],
        environments: [String]?,
        sha256: [UInt8],
        hint: String,
        createdAt: Timestamp,
        createdBy: String,
        expiresAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil,
        version: Int64 = 1
    ) {
        self.id = id
        self.app = app
        self.name = name
        self.kind = kind
        self.scopes = scopes
        self.environments = environments
        self.sha256 = sha256
        self.hint = hint
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
        self.version = version
    }

    /// Whether it opens anything at a moment.
    package func isInForce(at now: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { now < $0 } ?? true
    }

    /// False when a part of it is none that a store can hold.
    var isStorable: Bool {
        sha256.count == 32
            && ([name, kind, hint, createdBy] + scopes + (environments ?? [])).allSatisfy { text in
                StorableText.isWord(text) && !text.utf8.contains(UInt8(ascii: ","))
            }
    }

    /// The order of a listing: the newest first.
    static func isListedBefore(_ one: APIKeyRow, _ other: APIKeyRow) -> Bool {
        one.createdAt == other.createdAt
            ? one.id.text.utf8.lexicographicallyPrecedes(other.id.text.utf8) : one.createdAt > other.createdAt
    }
}
