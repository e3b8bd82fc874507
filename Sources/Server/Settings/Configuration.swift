import AppStore
import Crypto
import Pipeline
import PurchaseModel

/// Everything that an operator decides: one checked value, made of defaults, a file, the environment and flags.
///
/// Of a key only its SHA-256 is kept; the database's password is in the database's address alone.
struct Configuration: Sendable {
    /// An app whose purchases are recorded.
    struct App: Equatable, Sendable {
        /// Where it stands, such as `apps[0]`.
        let path: String
        let id: AppID
        let bundleID: BundleID
        /// The app's number in the App Store; proofs that name one must name this one.
        var appleID: Int64?
        /// Where purchases may come from; the default lets in no test purchase.
        var environments: [StoreEnvironment] = [.production]
        /// The catalogue; nil accepts every product of the app.
        var products: [ProductTerms]?
        /// Whether purchases that only a test root vouches for are recorded, apart from Apple's.
        var acceptsTestSigned = false
        var delivery = Delivery()
        var consumption = ConsumptionTerms()
        var store = AppStore()
        /// Whether Apple is asked for what a customer bought before, when the first purchase is recorded.
        var readsHistory = false
        /// With it the shop signs for which customer a publishable key speaks; `nil` when nobody asks.
        var customerSecret: [UInt8]?

        /// What ends the path that Apple's notifications come to.
        var notificationName: String { store.notificationToken ?? id.text }
    }

    /// How Apple is asked about an app, and where it sends what happens. Its secrets are never shown.
    struct AppStore: Equatable, Sendable {
        /// A key of App Store Connect for in-app purchases.
        struct Key: Equatable, Sendable {
            let issuer: String
            let id: String
            /// The private key, PKCS#8 in PEM.
            let pem: [UInt8]
            /// The member that it is of, such as `apps[0].app_store.private_key_file`.
            let path: String
        }

        /// What stands in the path that Apple's notifications come to; without one it is the app's id.
        var notificationToken: String?
        /// 32 hexadecimal digits, in small letters.
        var sharedSecret: [UInt8]?
        var key: Key?
        var hosts = AppStoreHosts.apple
    }

    /// How an app delivers what was bought.
    struct Delivery: Equatable, Sendable {
        /// Whether a purchase gives nothing until an order is found that it pays.
        var needsOrders = false
        /// What happens when a customer presents what is another's.
        var binding = BindingRule.refuse
        /// To whom sandbox purchases are delivered: by default to nobody.
        var sandbox = SandboxRule.recordOnly
        /// Whether a refund takes back more than is left.
        var allowsNegativeBalance = true
    }

    /// A bearer key: who holds it may speak for one app.
    struct Key: Equatable, Sendable {
        /// Where it stands, such as `keys[0]`.
        let path: String
        let name: String
        let app: AppID
        /// Of the secret's bytes; 32 bytes.
        let sha256: [UInt8]
        /// The member that has the secret, or says where it is, such as `keys[0].secret_file`.
        let secretPath: String
        /// Of a secret of 32 hexadecimal digits, as the App Store's shared secrets have, in small letters; `nil` of any other,
        /// and where only its hash is given.
        var sharedSecretSHA256: [UInt8]?
        var kind = KeyKind.secret
        /// What it may do: all that its kind may, if nothing is said.
        var scopes = KeyKind.secret.scopes
        /// The stores whose proofs it may bring; `nil` for all of its app.
        var environments: Set<StoreEnvironment>?

        /// Whether the secret is written as the App Store's shared secrets are; never where only its hash is given.
        var hasFormOfSharedSecret: Bool { sharedSecretSHA256 == sha256 }
    }

    /// Folders with certificates of the operator's own.
    struct Trust: Equatable, Sendable {
        /// Roots to trust beside Apple's, for test purchases.
        var roots: String?
        /// Certificates of Apple's that proofs do not carry.
        var certificates: String?
    }

    /// How answers are told from what somebody in between has made up.
    struct Answers: Sendable {
        var signingKeyFile: String?
        var signingKey: Ed25519PrivateKey?
    }

    struct Limits: Equatable, Sendable {
        /// A receipt of years of daily subscriptions, in Base64, is told to exceed one MiB.
        var bodyBytes = 4 << 20
        /// A request's line and fields.
        var headerBytes = 16 << 10
        var headerSeconds = 10
        var bodySeconds = 30
        var idleSeconds = 60
        var connections = 10_000
        /// Requests that are being answered; beyond it a client is told 503.
        var inFlight = 1_024
        /// Event feeds that are followed live; beyond it a client is told 503.
        var streams = 1_000
        /// Of Apple's limits, for this server alone.
        var applePercent = 100
        /// For each key; 0 is no limit.
        var requestsPerSecond = 0
        /// Purchases that wait for a decision; beyond it a client is told 503.
        var pendingPerApp = 10_000
        /// Of these, together.
        var pendingBytesPerApp = 1_073_741_824
        /// Of these, of one customer; beyond it a client is told 429.
        var pendingPerCustomer = 50
        /// How long each of them waits; then it is given up.
        var pendingDays = 30
        /// How long a stop waits for requests under way.
        var drainSeconds = 20
    }

    /// Where webhooks may go beside the Internet: inside a network of one's own.
    struct Webhooks: Equatable, Sendable {
        /// Blocks of addresses, such as `10.0.0.0/8`.
        var allowedAddresses: [String] = []
        /// Hosts that may be called without TLS, at any port.
        var plainHosts: [String] = []
    }

    /// How Apple is called for all apps.
    struct Apple: Equatable, Sendable {
        /// The HTTP proxy that every call to Apple goes through; nil calls Apple itself.
        var proxy: ProxyURL?
    }

    /// A PostgreSQL database that several servers share.
    struct Database: Equatable, Sendable {
        /// Nil keeps the ledger in the folder.
        var url: DatabaseURL?
        var schema = "assay"
        /// Whether a pooler in between lends sessions for one transaction.
        var isPooled = false
    }

    /// Whom this server works for.
    enum Profile: String, CaseIterable, Sendable {
        /// Customers: nothing that is only for tests may be switched on.
        case production
        case development
    }

    var profile = Profile.production
    var apps: [App] = []
    var keys: [Key] = []
    var trust = Trust()
    var answers = Answers()
    var listen = ListenAddress(address: "127.0.0.1", port: 8_080)
    /// The folder of the ledger; made when it is missing.
    var data = "data"
    var database = Database()
    var webhooks = Webhooks()
    var apple = Apple()
    var limits = Limits()

    /// Where each value came from, by the path of the setting; `apps` and `keys` come whole from one place.
    var origins: [String: SettingOrigin] = [:]
}

extension Configuration {
    /// Reads all layers: defaults, then the file that `--config` or `ASSAY_CONFIG` names, then `ASSAY_…`, then flags.
    ///
    /// Flags are named without hyphens, as ``Arguments/flags`` has them; those of no setting are not looked at. What is
    /// thrown holds all faults. Who does not serve may do without apps and keys.
    static func read(
        environment: [String: String],
        flags: [String: String] = [:],
        files: SettingsFiles = .disk,
        isToServe: Bool = true
    ) throws(ConfigurationFaults) -> Configuration {
        var reader = ConfigurationReader(files: files, isToServe: isToServe)
        reader.read(environment: environment, flags: flags)
        guard reader.faults.isEmpty else { throw ConfigurationFaults(all: reader.faults) }
        return reader.configuration
    }

    /// What is in force, one line for each value, with its origin and without secrets.
    var effective: String { ConfigurationText(self).text }
}
