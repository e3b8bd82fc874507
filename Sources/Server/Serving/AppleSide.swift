import AppStore
import Crypto
import HTTP
import Pipeline
import PurchaseModel
import Verification

/// How Apple is asked about each app of the configuration.
enum AppleSide {
    /// Requests to Apple under way at once; its limits are per second, and answers take some seconds in bad hours. No fewer than
    /// the jobs that ask at once.
    static let connectionsMax = 64

    struct Fault: Error {
        let sentence: String
    }

    private static func callerSettings(_ proxy: ProxyURL?) -> CallerSettings {
        var settings = CallerSettings()
        settings.proxy = proxy?.secret
        // Otherwise what the proxy says of a call without TLS would be taken for Apple's answer.
        settings.tunnelsAlways = true
        settings.connectionsMax = connectionsMax
        // Nearly all is asked of one host: else a customer's call would stand behind those that nobody waits for, and its time
        // would run out there.
        settings.connectionsToHostMax = connectionsMax
        // As much as is read of verifyReceipt's: it writes a kilobyte for each transaction of a receipt, and the receipt once
        // more.
        settings.responseBytesMax = 32 << 20
        return settings
    }

    /// - Parameters:
    ///   - settings: the apps, and what each needs to ask.
    ///   - verifier: what proves Apple's answers.
    ///   - clock: dates tokens and limits.
    ///   - report: hears of each request.
    /// - Returns: one account for each app that has a key or a shared secret.
    /// - Throws: ``Fault`` for a key that is none.
    static func accounts(
        _ settings: ServeSettings,
        _ verifier: Verifier,
        _ clock: any WallClock,
        _ report: @escaping @Sendable (AppStoreEvent) -> Void
    ) throws(Fault) -> [AppID: AppleAccount] {
        try accounts(
            settings,
            verifier,
            over: AppleLine(
                caller: caller(through: settings.appleProxy),
                clock: clock,
                share: RequestBudget.Share(percent: settings.applePercent),
                report: report
            )
        )
    }

    /// What asks Apple; it follows no redirect.
    static func caller(through proxy: ProxyURL?) -> HTTPCaller { CurlCaller(callerSettings(proxy)).caller }

    /// The same, over a line that is there already.
    static func accounts(
        _ settings: ServeSettings,
        _ verifier: Verifier,
        over line: AppleLine
    ) throws(Fault) -> [AppID: AppleAccount] {
        var accounts: [AppID: AppleAccount] = [:]
        for app in settings.apps {
            guard let store = settings.appStores[app.id], store.key != nil || store.sharedSecret != nil else {
                continue
            }
            let hosts = store.hosts
            let credentials = AppCredentials(
                bundleID: app.bundleID,
                appleID: app.appleID,
                sharedSecret: store.sharedSecret.map { String(decoding: $0, as: UTF8.self) },
                key: try key(store, of: app.id)
            )
            accounts[app.id] = AppleAccount(
                app: app,
                credentials: credentials,
                receipts: VerifyReceiptCall(line: line, verifier: verifier, hosts: hosts),
                server: AppStoreServerClient(app: credentials, line: line, verifier: verifier, hosts: hosts),
                isTest: !hosts.isApple
            )
        }
        return accounts
    }

    /// The key by which Apple is asked about an app; `nil` for an app without one.
    static func key(_ store: Configuration.AppStore, of app: AppID) throws(Fault) -> ServerAPIKey? {
        guard let key = store.key else { return nil }
        do throws(CryptoError) {
            return try ServerAPIKey(issuerID: key.issuer, keyID: key.id, pem: key.pem)
        } catch {
            let why = ServerAPIKey.sentence(error)
            throw Fault(sentence: "the private key \(key.id) of app \(app) cannot be used: \(why)")
        }
    }
}
