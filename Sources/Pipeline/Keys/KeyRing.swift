import Crypto
package import PurchaseModel
package import Storage
import Synchronization

/// Who may call: bearer keys, known only by their SHA-256, each for one app. Those of the configuration stay as they are;
/// those that were made over the API are read from the store, now and then and after each change.
package final class KeyRing: Sendable {
    /// Who holds a key: what stands in kept answers and rates. A key and the one that takes its place have the same.
    package struct Holder: Hashable, Sendable {
        package let name: String
        package let app: AppID

        package init(name: String, app: AppID) {
            self.name = name
            self.app = app
        }
    }

    private struct State {
        var stored: [[UInt8]: APIKey] = [:]
        var uses: [APIKeyID: Timestamp] = [:]
        var isComplete: Bool
        /// Why they could not be read the last time; `nil` when they were.
        var trouble: StoreFailure?
        /// Counts how often the keys were read, or given up.
        var readings = 0
        /// The reading that was begun last, and the one whose keys are known: each by how many were begun until then.
        var begun = 0
        var known = 0
        /// Digests of what was looked for and is no key. None of them becomes one: a secret is made of chance, and what is over
        /// stays so. Reading the keys goes before it all the same.
        var strange: Set<[UInt8]> = []
        var searches = 0
    }

    /// The longest key that is looked at, in bytes: far beyond any that we accept in the configuration.
    package static let bytesMax = 512
    /// How many keys may be looked for at once: who shows more that nobody knows than the ledger tells of has to wait.
    static let searchesMax = 16
    /// How many that are none are remembered, before all are forgotten: 32 bytes each, and some.
    static let strangeMax = 16_384
    /// How exactly a key's last use is kept: each step is a write.
    private static let useStep: Int64 = 3_600_000

    private let byDigest: [[UInt8]: APIKey]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - given: the keys of the configuration, by the 32 bytes of each one's SHA-256.
    ///   - isComplete: false when the others are still to be read: nobody is told before that a key is none.
    package init(_ given: [[UInt8]: APIKey], isComplete: Bool = true) {
        byDigest = given
        state = Mutex(State(isComplete: isComplete))
    }

    /// Whether a key that is not here is known to be none.
    package var isComplete: Bool { state.withLock(\.isComplete) }

    /// Why they are not all known: what hinders reading them, or that they are still being read.
    package var trouble: StoreFailure { state.withLock(\.trouble) ?? .busy }

    /// The key in an `Authorization` field, whatever it opens.
    package static func bearer(_ authorization: String?) -> [UInt8]? {
        guard let authorization else { return nil }
        let bytes = Array(authorization.utf8)
        let scheme = Array("bearer ".utf8)
        guard bytes.count > scheme.count, bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme else { return nil }
        return Array(bytes.dropFirst(scheme.count))
    }

    /// The key with this secret. The look-up is by hash, so its time tells nothing of a key.
    package func key(_ secret: [UInt8], at now: Timestamp) -> APIKey? {
        guard secret.count <= KeyRing.bytesMax else { return nil }
        let digest = Digest.sha256(secret)
        if let key = byDigest[digest] { return key }
        return state.withLock { state in
            guard let key = state.stored[digest], key.expiresAt.map({ now < $0 }) ?? true else { return nil }
            if let id = key.id { state.uses[id] = now }
            return key
        }
    }

    /// Whether a key opens anything still, for who was let in by it a while ago: by what is known here whenever that is asked,
    /// which is no use of the key. Of the secret only the digest is held on to.
    package func watch(_ secret: [UInt8]) -> @Sendable (Timestamp) -> Bool {
        let digest = Digest.sha256(secret)
        return { [self] now in
            if byDigest[digest] != nil { return true }
            return state.withLock { state in
                guard let key = state.stored[digest] else { return false }
                return key.expiresAt.map { now < $0 } ?? true
            }
        }
    }

    /// Looks in the ledger for a key that is not here: another server may have made it since the keys were read, and whoever
    /// holds it takes a "no" for the last word.
    ///
    /// - Returns: `nil` when there is none in force.
    /// - Throws: `StoreFailure`, also while too many are looked for: then it may be one.
    package func find(_ secret: [UInt8], in store: any Store, at now: Timestamp) async throws(StoreFailure) -> APIKey? {
        guard KeyDesk.mayHaveMade(secret) else { return nil }
        let digest = Digest.sha256(secret)
        guard let readings = try begin(digest) else { return nil }
        defer { state.withLock { $0.searches -= 1 } }
        let row = try await store.read { reader throws(StoreFailure) in
            try reader.apiKeyInForce(sha256: digest, at: now)
        }
        return state.withLock { state in
            guard let row else {
                if state.strange.count >= Self.strangeMax { state.strange = [] }
                state.strange.insert(digest)
                return nil
            }
            let key = APIKey(row)
            // Where they were read meanwhile it may have been revoked since.
            if state.readings == readings { state.stored[digest] = key }
            if let id = key.id { state.uses[id] = now }
            return key
        }
    }

    /// - Returns: how often the keys were read by now; `nil` for what is known to be none.
    private func begin(_ digest: [UInt8]) throws(StoreFailure) -> Int? {
        try state.withLock { state throws(StoreFailure) in
            if state.strange.contains(digest) { return nil }
            guard state.searches < Self.searchesMax else { throw .busy }
            state.searches += 1
            return state.readings
        }
    }

    /// The keys of the configuration, by name.
    package var given: [APIKey] {
        byDigest.values.sorted { $0.holder.name.utf8.lexicographicallyPrecedes($1.holder.name.utf8) }
    }

    /// Whether the configuration has a key of this name.
    package func isGiven(_ holder: Holder) -> Bool { byDigest.values.contains { $0.holder == holder } }

    /// Reads the keys that are in force. Where another reading that began later is done already, that one's stay: this one may
    /// have looked before a key was revoked.
    package func reload(from store: any Store, at now: Timestamp) async throws(StoreFailure) {
        let reading = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let rows: [APIKeyRow]
        do throws(StoreFailure) {
            rows = try await store.read { reader throws(StoreFailure) in try reader.apiKeysInForce(at: now) }
        } catch {
            state.withLock { $0.trouble = error }
            throw error
        }
        let keys = Dictionary(rows.map { ($0.sha256, APIKey($0)) }, uniquingKeysWith: { first, _ in first })
        state.withLock { state in
            guard reading > state.known else { return }
            state.known = reading
            state.stored = keys
            state.readings += 1
            state.isComplete = true
            state.trouble = nil
        }
    }

    /// Takes none of the store's keys for good until they are read again: what may have been revoked opens nothing, and nobody
    /// is told that a key is none.
    package func doubt() {
        state.withLock { state in
            state.stored = [:]
            state.readings += 1
            state.isComplete = false
        }
    }

    /// Writes which keys were used since the last time, to the hour; without any nothing is written.
    package func writeUses(to store: any Store) async throws(StoreFailure) {
        let uses = state.withLock { state in
            defer { state.uses = [:] }
            return state.uses
        }
        guard !uses.isEmpty else { return }
        let hours = uses.map { (id: $0.key, moment: $0.value.milliseconds / Self.useStep * Self.useStep) }
            .sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }
        let known = try await store.read { reader throws(StoreFailure) in
            try hours.map { use throws(StoreFailure) in try reader.apiKey(use.id)?.lastUsedAt?.milliseconds ?? .min }
        }
        let new = zip(hours, known).filter { $0.moment > $1 }.map(\.0)
        guard !new.isEmpty else { return }
        try await store.write { transaction throws(StoreFailure) in
            for use in new { try transaction.noteAPIKeyUse(use.id, at: Timestamp(milliseconds: use.moment)) }
        }
    }
}
