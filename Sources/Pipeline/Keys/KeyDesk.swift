import Crypto
import Encoding
package import PurchaseModel
package import Storage

/// Makes keys and ends them, for a key that may or for an admin. A secret is in one answer and nowhere after it: the store
/// has its SHA-256.
package struct KeyDesk: Sendable {
    /// For which app, by whom, and when.
    package struct Asking: Sendable {
        package let app: AppID
        /// Kept with a key as its maker.
        package let name: String
        /// The key that asks; `nil` for who has everything.
        package let key: APIKey?
        package let now: Timestamp

        package init(app: AppID, name: String, key: APIKey? = nil, now: Timestamp) {
            self.app = app
            self.name = name
            self.key = key
            self.now = now
        }
    }

    /// A key, and its secret, which nobody hears again.
    package struct Made: Sendable {
        package let row: APIKeyRow
        package let secret: String
    }

    /// Why nothing was changed.
    package enum Fault: Error, Hashable, Sendable {
        /// The app has no such key in force.
        case unknown
        /// It is not any more as whoever asks has seen it.
        case changed
        case nameTaken
        case tooMany
        /// It has more than the key that asks, or would live longer.
        case moreThanOwn
    }

    /// Those in force. More are a mistake.
    package static let inForceMax = 100
    /// How many seconds a key lives beside the one that takes its place.
    package static let overlapRange: ClosedRange<Int64> = 0...2_592_000
    package static let overlapStandard: Int64 = 86_400
    private static let hintCount = 4
    /// How much chance is in a secret.
    private static let secretBytes = 24
    private static let prefixes = ["pk_live_", "pk_test_", "sk_live_", "sk_test_"].map { Array($0.utf8) }

    private let ring: KeyRing

    /// - Parameter ring: has the keys of the configuration, whose names nobody else may have.
    package init(ring: KeyRing) { self.ring = ring }

    package func create(
        _ wish: KeyWish,
        _ asking: Asking,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Made, Fault> {
        let inForce = try transaction.holdAPIKeys(app: asking.app, at: asking.now)
        guard !inForce.contains(where: { $0.name == wish.name }),
            !ring.isGiven(KeyRing.Holder(name: wish.name, app: asking.app))
        else { return .failure(.nameTaken) }
        guard inForce.count < Self.inForceMax else { return .failure(.tooMany) }
        let wished = wish.days.map { asking.now.advanced(by: .seconds($0 * 86_400)) }
        let own = try Self.ownEnd(asking, transaction)
        // Without a word it ends with the key that makes it.
        let end = wished ?? own
        guard !Self.isBeyond(own, end), own.map({ asking.now < $0 }) ?? true else { return .failure(.moreThanOwn) }
        let made = Self.make(
            name: wish.name,
            kind: wish.kind.rawValue,
            scopes: wish.scopes.map(\.rawValue).sorted(),
            environments: wish.environments,
            until: end,
            asking
        )
        try transaction.addAPIKey(made.row)
        return .success(made)
    }

    /// A new secret for the same holder; the old one lives on for so many seconds.
    ///
    /// - Parameters:
    ///   - id: which.
    ///   - version: the one that was seen; `nil` for whichever it is.
    ///   - overlap: in ``overlapRange``.
    ///   - asking: who wants it.
    ///   - transaction: where it is written.
    /// - Returns: the new key.
    /// - Throws: `StoreFailure`.
    package static func rotate(
        _ id: APIKeyID,
        version: Int64? = nil,
        overlap: Int64,
        _ asking: Asking,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Made, Fault> {
        var old: APIKeyRow
        switch try find(id, version, asking, transaction) {
        case .success(let found): old = found
        case .failure(let fault): return .failure(fault)
        }
        guard asking.key.map({ mayGive($0, old) }) ?? true, !isBeyond(try ownEnd(asking, transaction), old.expiresAt)
        else { return .failure(.moreThanOwn) }
        // Held also where no key is added: nobody else may take the name while it goes from one to the other.
        let inForce = try transaction.holdAPIKeys(app: asking.app, at: asking.now)
        guard overlap == 0 || inForce.count < inForceMax else { return .failure(.tooMany) }
        let end = asking.now.advanced(by: .seconds(overlap))
        let lifetime = old.expiresAt
        old.expiresAt = min(old.expiresAt ?? end, end)
        let made = make(
            name: old.name,
            kind: old.kind,
            scopes: old.scopes,
            environments: old.environments,
            until: lifetime,
            asking
        )
        try transaction.endAPIKey(old)
        try transaction.addAPIKey(made.row)
        return .success(made)
    }

    /// It opens nothing from now on; on other servers within seconds.
    ///
    /// - Parameters:
    ///   - id: which.
    ///   - version: the one that was seen; `nil` for whichever it is.
    ///   - asking: who wants it.
    ///   - transaction: where it is written.
    /// - Returns: the key as it is now.
    /// - Throws: `StoreFailure`.
    package static func revoke(
        _ id: APIKeyID,
        version: Int64? = nil,
        _ asking: Asking,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<APIKeyRow, Fault> {
        var key: APIKeyRow
        switch try find(id, version, asking, transaction) {
        case .success(let found): key = found
        case .failure(let fault): return .failure(fault)
        }
        guard asking.key.map({ reachesStores(of: key, $0) }) ?? true else { return .failure(.moreThanOwn) }
        key.revokedAt = asking.now
        try transaction.endAPIKey(key)
        return .success(key)
    }

    private static func find(
        _ id: APIKeyID,
        _ version: Int64?,
        _ asking: Asking,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Result<APIKeyRow, Fault> {
        guard let key = try reader.apiKey(id), key.app == asking.app else { return .failure(.unknown) }
        guard version == nil || version == key.version else { return .failure(.changed) }
        return key.isInForce(at: asking.now) ? .success(key) : .failure(.unknown)
    }

    /// Nobody gives what he has not: neither a new key nor a new secret for a mightier one.
    private static func mayGive(_ giver: APIKey, _ row: APIKeyRow) -> Bool {
        let key = APIKey(row)
        return key.scopes.isSubset(of: giver.scopes) && reachesStores(of: row, giver)
    }

    /// When the key that asks ends by what the ledger says now: this server may not have heard of it yet. What a stolen key
    /// makes would else outlive it.
    ///
    /// - Returns: `nil` for who does not end; now for a key that has ended.
    private static func ownEnd(_ asking: Asking, _ reader: any StoreReader) throws(StoreFailure) -> Timestamp? {
        guard let id = asking.key?.id else { return nil }
        guard let row = try reader.apiKey(id), row.isInForce(at: asking.now) else { return asking.now }
        return row.expiresAt
    }

    private static func isBeyond(_ own: Timestamp?, _ end: Timestamp?) -> Bool {
        guard let own else { return false }
        return end.map { own < $0 } ?? true
    }

    private static func reachesStores(of row: APIKeyRow, _ key: APIKey) -> Bool {
        guard let own = key.environments else { return true }
        return APIKey(row).environments.map { $0.isSubset(of: own) } ?? false
    }

    /// Whether it looks like one that was made here; one of the configuration need not.
    static func mayHaveMade(_ secret: [UInt8]) -> Bool {
        guard let prefix = prefixes.first(where: { secret.starts(with: $0) }) else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return secret.count == prefix.count + 2 * secretBytes
            && secret.dropFirst(prefix.count).allSatisfy { digits.contains($0) || letters.contains($0) }
    }

    private static func make(
        name: String,
        kind: String,
        scopes: [String],
        environments: [String]?,
        until end: Timestamp?,
        _ asking: Asking
    ) -> Made {
        let isTest = environments.map { !$0.contains(StoreEnvironment.production.rawValue) } ?? false
        let prefix = (kind == KeyKind.publishable.rawValue ? "pk_" : "sk_") + (isTest ? "test_" : "live_")
        let secret = prefix + Hexadecimal.encode(SecureRandom.bytes(secretBytes))
        let row = APIKeyRow(
            id: APIKeyID(checked: APIKeyID.prefix + Hexadecimal.encode(SecureRandom.bytes(12))),
            app: asking.app,
            name: name,
            kind: kind,
            scopes: scopes,
            environments: environments,
            sha256: Digest.sha256(Array(secret.utf8)),
            hint: String(secret.suffix(hintCount)),
            createdAt: asking.now,
            createdBy: asking.name,
            expiresAt: end
        )
        return Made(row: row, secret: secret)
    }
}

extension APIKeyRow {
    /// What a key is, for the log: its secret is nowhere, and its last letters tell which one somebody holds.
    package var sentence: String {
        let stores = environments.map { ", of \($0.joined(separator: " "))" } ?? ""
        return "\(app) \(name), \(kind), …\(hint): \(scopes.joined(separator: " "))\(stores)"
    }
}
