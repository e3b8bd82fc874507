import API
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// The configuration in the words of the parts that it is for.
struct ServeSettings: Sendable {
    var apps: [AppPolicy]
    /// How Apple is asked about each app, and where it sends what happens.
    var appStores: [AppID: Configuration.AppStore]
    /// What of Apple's limits is this server's, in percent.
    var applePercent: Int
    /// What every call to Apple goes through, and no other call.
    var appleProxy: ProxyURL?
    var keys: KeyRing
    var customers: CustomerToken
    var roots: String?
    var certificates: String?
    var address: String
    var port: UInt16
    var data: String
    var database: Configuration.Database
    var egress: EgressRule
    var http: HTTPLimits
    var pipeline: PipelineLimits
    var requestsPerSecond: Int
    var signer: AnswerSigner?
}

extension ServeSettings {
    init(_ configuration: Configuration) {
        apps = configuration.apps.map { AppPolicy($0) }
        appStores = Dictionary(configuration.apps.map { ($0.id, $0.store) }, uniquingKeysWith: { first, _ in first })
        keys = KeyRing(
            Dictionary(configuration.keys.map { ($0.sha256, APIKey($0)) }, uniquingKeysWith: { first, _ in first }),
            isComplete: false
        )
        customers = CustomerToken(
            Dictionary(
                configuration.apps.compactMap { app in app.customerSecret.map { (app.id, $0) } },
                uniquingKeysWith: { first, _ in first }
            )
        )
        signer = configuration.answers.signingKey.map { AnswerSigner($0) }
        roots = configuration.trust.roots
        certificates = configuration.trust.certificates
        address = configuration.listen.address
        port = configuration.listen.port
        data = configuration.data
        database = configuration.database
        egress = EgressRule(
            allowed: configuration.webhooks.allowedAddresses.compactMap { AddressBlock($0) },
            plainHosts: configuration.webhooks.plainHosts
        )
        let limits = configuration.limits
        applePercent = limits.applePercent
        appleProxy = configuration.apple.proxy
        http = HTTPLimits()
        http.bodyBytes = limits.bodyBytes
        http.headerBytes = limits.headerBytes
        http.header = .seconds(limits.headerSeconds)
        http.body = .seconds(limits.bodySeconds)
        http.idle = .seconds(limits.idleSeconds)
        http.connections = limits.connections
        http.requests = limits.inFlight
        http.streams = limits.streams
        http.drain = .seconds(limits.drainSeconds)
        pipeline = PipelineLimits(
            pendingPerApp: PendingLoad(submissions: limits.pendingPerApp, bytes: limits.pendingBytesPerApp),
            pendingPerCustomer: limits.pendingPerCustomer,
            pendingFor: .seconds(limits.pendingDays * 86_400)
        )
        requestsPerSecond = limits.requestsPerSecond
    }
}

extension AppPolicy {
    /// An app of the configuration.
    fileprivate init(_ app: Configuration.App) {
        self.init(
            id: app.id,
            bundleID: app.bundleID,
            appleID: app.appleID,
            environments: Set(app.environments),
            acceptsTestSigned: app.acceptsTestSigned,
            terms: AppTerms(
                products: app.products.map { products in
                    Dictionary(products.map { ($0.product, $0) }, uniquingKeysWith: { first, _ in first })
                },
                needsOrder: app.delivery.needsOrders,
                binding: app.delivery.binding,
                sandbox: app.delivery.sandbox,
                allowsNegativeBalance: app.delivery.allowsNegativeBalance,
                consumption: app.consumption
            ),
            readsHistory: app.readsHistory
        )
    }
}

extension APIKey {
    /// A key of the configuration.
    fileprivate init(_ key: Configuration.Key) {
        self.init(
            KeyRing.Holder(name: key.name, app: key.app),
            kind: key.kind,
            scopes: key.scopes,
            environments: key.environments
        )
    }
}
