package import Crypto
package import PurchaseModel

/// An app in the simulated store: what its merchant set in App Store Connect.
package struct StoreApp: Sendable {
    package var bundleID: BundleID
    /// Apple's number for the app.
    package var appleID: Int64
    package var version = "1"
    package var originalVersion = "1"
    package var versionExternalID: Int64 = 860_000_001
    package var products: [ProductID: StoreProduct] = [:]
    package var gracePeriod: GracePeriod?
    /// Whom the Server API lets in.
    package var issuerID: String
    /// The keys of type "In-App Purchase", by their ten-character ids.
    package var apiKeys: [String: PublicKey] = [:]
    /// The app-specific shared secret, 32 hexadecimal digits.
    package var sharedSecret: String
    package var productionNotifications: NotificationTarget?
    package var sandboxNotifications: NotificationTarget?

    package init(bundleID: BundleID, appleID: Int64, issuerID: String, sharedSecret: String) {
        self.bundleID = bundleID
        self.appleID = appleID
        self.issuerID = issuerID
        self.sharedSecret = sharedSecret
    }

    /// Where notifications about purchases in this environment go.
    package func notifications(in environment: StoreEnvironment) -> NotificationTarget? {
        environment == .production ? productionNotifications : sandboxNotifications
    }

    /// The app as the signers know it.
    package func signing(in environment: StoreEnvironment) -> SimulatedApp {
        SimulatedApp(bundleID: bundleID, appleID: appleID, version: version, environment: environment)
    }
}

/// Billing grace period, as set for an app. Source: App Store Connect help, *Enable Billing Grace Period*.
package struct GracePeriod: Hashable, Sendable {
    /// 3, 16 or 28; weekly subscriptions get 3 or 6.
    package var days: Int
    /// Whether the renewal out of a free offer has grace, too.
    package var coversTrials: Bool

    package init(days: Int, coversTrials: Bool = true) {
        self.days = days
        self.coversTrials = coversTrials
    }
}

/// Where notifications are posted, and in which of Apple's two versions.
package struct NotificationTarget: Hashable, Sendable {
    package enum Version: Int, Hashable, Sendable {
        case one = 1
        case two = 2
    }

    package var url: String
    package var version: Version

    package init(url: String, version: Version = .two) {
        self.url = url
        self.version = version
    }
}
