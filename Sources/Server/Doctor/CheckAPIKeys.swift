import Pipeline
import PurchaseModel

/// Whether a key of the configuration may be an app's shared secret, which nobody can tell who does not have it.
enum CheckAPIKeys {
    /// Of secret keys only: whoever unpacks an app finds a publishable one anyway. Where the key's app has a `shared_secret` it
    /// was compared, and is another.
    static func findings(_ configuration: Configuration) -> [Finding] {
        let compared = Set(configuration.apps.filter { $0.store.sharedSecret != nil }.map(\.id))
        return configuration.keys.compactMap { key in
            guard key.hasFormOfSharedSecret, key.kind == .secret, key.scopes != [.verifyReceipt],
                !compared.contains(key.app)
            else { return nil }
            return .warn(
                "api_key",
                of: key.name,
                "32 lowercase hexadecimal digits, as the App Store's shared secrets are",
                cause: "If it is one, whoever unpacks an app that has it may do all that this key may. A secret of "
                    + "chance may look the same, such as one of \"openssl rand -hex 16\": then all is well.",
                fix: "if it is one, give the key another secret, or \"scopes\": [\"verify_receipt\"] and no other; "
                    + "if not, set app_store.shared_secret of app \"\(key.app)\", for the two to be compared, "
                    + "or a longer secret"
            )
        }
    }
}
