package import PurchaseModel
import Verification

/// Where Apple's servers are. Without a slash at the end.
package struct AppStoreHosts: Hashable, Sendable {
    /// verifyReceipt's own addresses, whole.
    package var verifyReceiptProduction: String
    package var verifyReceiptSandbox: String
    /// What the paths of the App Store Server API are appended to.
    package var serverAPIProduction: String
    package var serverAPISandbox: String

    /// Apple's, as recommended since 2026-05-05.
    package static let apple = AppStoreHosts(
        verifyReceiptProduction: ServerAnswer.productionURL,
        verifyReceiptSandbox: ServerAnswer.sandboxURL,
        serverAPIProduction: "https://api.storekit.apple.com",
        serverAPISandbox: "https://api.storekit-sandbox.apple.com"
    )

    /// Apple's, with the names of before 2026 for the Server API: they keep answering.
    package static let olderApple = AppStoreHosts(
        verifyReceiptProduction: ServerAnswer.productionURL,
        verifyReceiptSandbox: ServerAnswer.sandboxURL,
        serverAPIProduction: "https://api.storekit.itunes.apple.com",
        serverAPISandbox: "https://api.storekit-sandbox.itunes.apple.com"
    )

    /// The simulator's: one address, and a path for each store.
    package static func simulator(at base: String) -> AppStoreHosts {
        AppStoreHosts(
            verifyReceiptProduction: base + "/production/verifyReceipt",
            verifyReceiptSandbox: base + "/sandbox/verifyReceipt",
            serverAPIProduction: base + "/production",
            serverAPISandbox: base + "/sandbox"
        )
    }

    package func verifyReceipt(_ store: StoreEnvironment) -> String {
        store == .production ? verifyReceiptProduction : verifyReceiptSandbox
    }

    package func serverAPI(_ store: StoreEnvironment) -> String {
        store == .production ? serverAPIProduction : serverAPISandbox
    }
}
