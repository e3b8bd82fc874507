package import PurchaseModel
package import Simulator

/// The authority that all tests of one process share, so that keys are generated once.
package enum TestAuthority {
    /// Good from 2020 to 2040; leaves too. Its members are made when first asked for.
    package static let shared = SimulatorAuthority(
        validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
    )

    /// A moment well inside: 2025-06-15T12:00:00Z.
    package static let moment = Timestamp(seconds: 1_749_988_800)

    package static let bundleID = BundleID(checked: "com.example.simulated")

    package static func app(_ environment: StoreEnvironment = .sandbox) -> SimulatedApp {
        SimulatedApp(bundleID: bundleID, version: "42", environment: environment)
    }

    package static func signer(_ environment: StoreEnvironment = .sandbox) -> PurchaseSigner {
        PurchaseSigner(shared, app: app(environment))
    }
}
