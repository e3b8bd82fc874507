package import AppStore
package import PurchaseModel

/// How Apple is asked about one app's purchases. Jobs alone ask: no request of a client waits for Apple.
package struct AppleAccount: Sendable {
    package let app: AppPolicy
    package let credentials: AppCredentials
    package let receipts: VerifyReceiptCall
    package let server: AppStoreServerClient
    /// Whether it is a simulated store that is asked: what it signs is behind a wall of its own.
    package let isTest: Bool

    package init(
        app: AppPolicy,
        credentials: AppCredentials,
        receipts: VerifyReceiptCall,
        server: AppStoreServerClient,
        isTest: Bool = false
    ) {
        self.app = app
        self.credentials = credentials
        self.receipts = receipts
        self.server = server
        self.isTest = isTest
    }

    /// Whether there is a key, without which the App Store Server API answers nothing.
    package var hasKey: Bool { credentials.key != nil }

    /// What can be asked about purchases on one side of the wall.
    package func reach(of realm: Realm) -> AppleReach {
        guard isTest == realm.isTestSigned, app.environments.contains(realm.environment) else { return .nothing }
        return askableStores.contains(realm.environment) ? .everything : .receipts
    }

    /// The stores that can be asked by the App Store Server API: those whose purchases the app takes, when there is a key.
    package var askableStores: [StoreEnvironment] {
        hasKey ? [.production, .sandbox].filter(app.environments.contains) : []
    }
}
