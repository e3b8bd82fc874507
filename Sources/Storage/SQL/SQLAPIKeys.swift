import PurchaseModel

// API keys: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var keys: APIKeyQueries { APIKeyQueries(connection: connection, apps: apps) }

    func apiKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try keys.list(app: app, at: now)
    }

    func apiKey(_ id: APIKeyID) throws(StoreFailure) -> APIKeyRow? { try keys.find(id) }

    func apiKeyInForce(sha256: [UInt8], at now: Timestamp) throws(StoreFailure) -> APIKeyRow? {
        try keys.inForce(sha256: sha256, at: now)
    }

    func apiKeysInForce(at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] { try keys.inForce(at: now) }

    func holdAPIKeys(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try keys.hold(app: app, at: now)
    }

    func addAPIKey(_ key: APIKeyRow) throws(StoreFailure) { try keys.add(key) }

    func endAPIKey(_ key: APIKeyRow) throws(StoreFailure) { try keys.end(key) }

    func noteAPIKeyUse(_ id: APIKeyID, at moment: Timestamp) throws(StoreFailure) {
        try keys.noteUse(id, at: moment)
    }
}
