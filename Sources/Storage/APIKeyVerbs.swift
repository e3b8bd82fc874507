package import PurchaseModel

/// The questions about API keys.
package protocol APIKeyReader {
    /// An app's keys, the newest first: the newest ``APIKeyRow/listedMax``, those that are over among them, and all that are
    /// not over at a moment.
    func apiKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow]

    func apiKey(_ id: APIKeyID) throws(StoreFailure) -> APIKeyRow?

    /// The key whose secret has this SHA-256; `nil` when there is none, or it is over at a moment.
    func apiKeyInForce(sha256: [UInt8], at now: Timestamp) throws(StoreFailure) -> APIKeyRow?

    /// All keys of all apps that are not over at a moment, in no order.
    func apiKeysInForce(at now: Timestamp) throws(StoreFailure) -> [APIKeyRow]
}

/// What is kept of API keys.
package protocol APIKeyVerbs: APIKeyReader {
    /// All of an app's keys that are not over at a moment, in no order. Another write that asks so waits until this one has
    /// ended, or is made again: whoever adds a key by what it finds here does so alone.
    func holdAPIKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow]

    /// - Throws: ``StoreFailure/conflict`` when the id or the secret is taken. ``StoreFailure/unstorable``.
    func addAPIKey(_ key: APIKeyRow) throws(StoreFailure)

    /// Writes when a key ends, over the version that was read.
    ///
    /// - Parameter key: with the version that was read.
    /// - Throws: ``StoreFailure/conflict`` when somebody else was faster, or there is none.
    func endAPIKey(_ key: APIKeyRow) throws(StoreFailure)

    /// Notes that a key was used; an older moment than the one that is there changes nothing. Nothing for one that is
    /// not there.
    func noteAPIKeyUse(_ id: APIKeyID, at moment: Timestamp) throws(StoreFailure)
}
