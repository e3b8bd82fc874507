package import AppStore
import PurchaseModel

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
}
