import PurchaseModel

extension MemoryTransaction {
    func apiKeys(app: AppID, at now: Timestamp) -> [APIKeyRow] {
        let own = ledger.apiKeys.values.filter { $0.app == app }.sorted(by: APIKeyRow.isListedBefore)
        return own.prefix(APIKeyRow.listedMax) + own.dropFirst(APIKeyRow.listedMax).filter { $0.isInForce(at: now) }
    }

    func apiKey(_ id: APIKeyID) -> APIKeyRow? { ledger.apiKeys[id] }

    func apiKeysInForce(at now: Timestamp) -> [APIKeyRow] { ledger.apiKeys.values.filter { $0.isInForce(at: now) } }

    func apiKeyInForce(sha256: [UInt8], at now: Timestamp) -> APIKeyRow? {
        ledger.apiKeys.values.first { $0.sha256 == sha256 && $0.isInForce(at: now) }
    }

    /// There is one writer.
    func holdAPIKeys(app: AppID, at now: Timestamp) -> [APIKeyRow] { apiKeysInForce(at: now).filter { $0.app == app } }

    func addAPIKey(_ key: APIKeyRow) throws(StoreFailure) {
        guard key.isStorable else { throw .unstorable }
        guard ledger.apiKeys[key.id] == nil, !ledger.apiKeys.values.contains(where: { $0.sha256 == key.sha256 }) else {
            throw conflict()
        }
        put(key, at: \.apiKeys[key.id])
    }

    func endAPIKey(_ key: APIKeyRow) throws(StoreFailure) {
        guard var row = ledger.apiKeys[key.id], row.version == key.version else { throw conflict() }
        row.expiresAt = key.expiresAt
        row.revokedAt = key.revokedAt
        row.version += 1
        put(row, at: \.apiKeys[key.id])
    }

    func noteAPIKeyUse(_ id: APIKeyID, at moment: Timestamp) {
        guard var row = ledger.apiKeys[id], row.lastUsedAt.map({ $0 < moment }) ?? true else { return }
        row.lastUsedAt = moment
        put(row, at: \.apiKeys[id])
    }
}
