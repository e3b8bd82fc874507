import AppStore
import Crypto
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Verification

/// The simulated store with its Server API, and a client of it.
struct ServerDesk: Sendable {
    typealias Instead = @Sendable (HTTPCall) throws(HTTPCallFailure) -> HTTPResponse?

    static let keyID = "ABCDEFGHIJ"
    static let signingKey = Result { try PrivateKey(generate: .p256) }

    static func signingKeyText() throws -> [UInt8] { try signingKey.get().pem() }

    let desk: AppleDesk
    let sender: NoticeSender
    let client: AppStoreServerClient
    let fault: Fault

    /// What goes wrong, as a test wants it at the moment.
    final class Fault: Sendable {
        private let error = Mutex<ServerAPIError?>(nil)

        func set(_ error: ServerAPIError?) { self.error.withLock { $0 = error } }
        var now: ServerAPIError? { error.withLock { $0 } }
    }

    init(
        _ options: ServerAPI.Options = ServerAPI.Options(),
        key: PrivateKey? = nil,
        chaos: Chaos = .none,
        instead: @escaping Instead = { _ throws(HTTPCallFailure) in nil }
    ) throws {
        let signingKey = try Self.signingKey.get()
        let desk = AppleDesk { app in
            app.apiKeys[Self.keyID] = signingKey.publicKey
            app.productionNotifications = NotificationTarget(url: "https://shop.example/production")
            app.sandboxNotifications = NotificationTarget(url: "https://shop.example/sandbox")
        }
        let sender = try NoticeSender(desk.simulator, caller: HTTPCaller { _ in HTTPResponse(.ok) })
        let fault = Fault()
        var options = options
        options.fault = { _ in fault.now }
        let api = try ServerAPI(desk.simulator, sent: sender.sentNotices, options: options)
        let run = ChaosRun(desk.simulator) { _ in }
        run.set(chaos)
        var app = desk.credentials
        let pem = try (key ?? signingKey).pem()
        app.key = try ServerAPIKey(issuerID: DemoCatalogue.issuerID, keyID: Self.keyID, pem: pem)
        self.desk = desk
        self.sender = sender
        self.fault = fault
        client = AppStoreServerClient(
            app: app,
            line: desk.line(run.disturbing(Router(api.routes).handler), instead: instead),
            verifier: try AppleDesk.verifier.get(),
            hosts: .simulator(at: AppleDesk.base)
        )
    }

    var paths: [String] {
        desk.log.urls.map { url in String(url.dropFirst(AppleDesk.base.count).prefix { $0 != "?" }) }
    }
}

/// What a call failed with; `nil` when it did not.
func failure<Value>(_ body: () async throws(AppStoreFailure) -> Value) async -> AppStoreFailure? {
    do throws(AppStoreFailure) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
