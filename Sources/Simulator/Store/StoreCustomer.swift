package import PurchaseModel

/// An Apple account in one of the two environments.
package struct StoreCustomer: Hashable, Sendable {
    /// The name by which stories and the control API call her; unique in the store.
    package let name: String
    /// `production` or `sandbox`.
    package let environment: StoreEnvironment
    package var storefront = Storefront.unitedStates
    package var rate: TimeRate
    /// Whether her way of paying works; false makes purchases and renewals fail.
    package var canPay = true
    /// Purchases of a child wait for a parent.
    package var asksToBuy = false
    /// The family whose purchases she shares, if any.
    package var family: String?
    /// When she first got each app, and the number of that pair.
    package var downloads: [BundleID: Download] = [:]
    /// Groups in which she had an introductory offer.
    package var usedIntroductions: Set<String> = []

    /// That an account got an app.
    package struct Download: Hashable, Sendable {
        package var appTransactionID: String
        package var at: Timestamp
        package var version: String

        package init(appTransactionID: String, at: Timestamp, version: String) {
            self.appTransactionID = appTransactionID
            self.at = at
            self.version = version
        }
    }

    package init(name: String, environment: StoreEnvironment, rate: TimeRate? = nil) {
        self.name = name
        self.environment = environment
        self.rate = rate ?? (environment == .production ? .real : .sandbox(minutesPerMonth: 5))
    }
}
