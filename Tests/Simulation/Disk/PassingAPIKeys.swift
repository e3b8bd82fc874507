package import PurchaseModel
package import Storage

// API keys.
extension PassingTransaction {
    package func apiKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try base.apiKeys(app: app, at: now)
    }

    package func apiKey(_ id: APIKeyID) throws(StoreFailure) -> APIKeyRow? { try base.apiKey(id) }

    package func apiKeyInForce(sha256: [UInt8], at now: Timestamp) throws(StoreFailure) -> APIKeyRow? {
        try base.apiKeyInForce(sha256: sha256, at: now)
    }

    package func apiKeysInForce(at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try base.apiKeysInForce(at: now)
    }

    package func holdAPIKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try base.holdAPIKeys(app: app, at: now)
    }

    package func addAPIKey(_ key: APIKeyRow) throws(StoreFailure) { try base.addAPIKey(key) }

    package func endAPIKey(_ key: APIKeyRow) throws(StoreFailure) { try base.endAPIKey(key) }

    package func noteAPIKeyUse(_ id: APIKeyID, at moment: Timestamp) throws(StoreFailure) {
        try base.noteAPIKeyUse(id, at: moment)
    }
}
