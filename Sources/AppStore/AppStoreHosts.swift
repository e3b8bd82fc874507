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

    /// Apple's, as recommended since 2026-05-05, where nothing else is given.
    package init(
        verifyReceiptProduction: String = ServerAnswer.productionURL,
        verifyReceiptSandbox: String = ServerAnswer.sandboxURL,
        serverAPIProduction: String = "https://api.storekit.apple.com",
        serverAPISandbox: String = "https://api.storekit-sandbox.apple.com"
    ) {
        self.verifyReceiptProduction = verifyReceiptProduction
        self.verifyReceiptSandbox = verifyReceiptSandbox
        self.serverAPIProduction = serverAPIProduction
        self.serverAPISandbox = serverAPISandbox
    }

    package static let apple = AppStoreHosts()

    /// Apple's, with the names of before 2026 for the Server API: they keep answering.
    package static let olderApple = AppStoreHosts(
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

    /// Whether the Server API is asked at Apple's, by its new names or the older ones.
    package var isApple: Bool {
        [AppStoreHosts.apple, .olderApple].contains { $0.serverAPIProduction == serverAPIProduction }
    }

    package func verifyReceipt(_ store: StoreEnvironment) -> String {
        store == .production ? verifyReceiptProduction : verifyReceiptSandbox
    }

    package func serverAPI(_ store: StoreEnvironment) -> String {
        store == .production ? serverAPIProduction : serverAPISandbox
    }
}
