package import AppleFormats
import Crypto
import Encoding
package import HTTP
package import PurchaseModel

/// Answers `POST /verifyReceipt` as Apple's two deprecated hosts do.
///
/// Source: Apple, *verifyReceipt* and *status* of *App Store Receipts*; TN3122.
package struct VerifyReceiptEndpoint: Sendable {
    /// What goes wrong on purpose, instead of an answer.
    package enum Fault: Hashable, Sendable {
        /// HTTP 200 with a number alone: 21002, 21005, 21009, 21010 or, with `is-retryable`, 21100 to 21199.
        case status(VerifyReceiptStatus, isRetryable: Bool? = nil)
        /// No JSON at all, such as a 503.
        case http(HTTPStatus)
    }

    private let simulator: AppStoreSimulator
    private let fault: @Sendable (StoreEnvironment) -> Fault?

    /// - Parameters:
    ///   - simulator: whose receipts are known.
    ///   - fault: asked before each answer.
    package init(
        _ simulator: AppStoreSimulator,
        fault: @escaping @Sendable (StoreEnvironment) -> Fault? = { _ in nil }
    ) {
        self.simulator = simulator
        self.fault = fault
    }

    /// Under paths of our own for both environments, and under Apple's path by Apple's two host names.
    package var routes: [Route] {
        // A wrong method is Apple's to refuse, not the router's.
        let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .options]
        return methods.flatMap { method in
            [
                Route(method, "/production/verifyReceipt") { request, _ in respond(to: request, .production) },
                Route(method, "/sandbox/verifyReceipt") { request, _ in respond(to: request, .sandbox) },
                Route(method, "/verifyReceipt") { request, _ in
                    guard let environment = VerifyReceiptEndpoint.environment(ofHost: request.fields["Host"]) else {
                        return .problem(.notFound, code: "not_found")
                    }
                    return respond(to: request, environment)
                },
            ]
        }
    }

    /// Which of Apple's hosts was meant.
    static func environment(ofHost host: String?) -> StoreEnvironment? {
        switch AppleHost.name(inField: host) {
        case "buy.itunes.apple.com": return .production
        case "sandbox.itunes.apple.com": return .sandbox
        default: return nil
        }
    }

    package func respond(to request: HTTPRequest, _ environment: StoreEnvironment) -> HTTPResponse {
        switch fault(environment) {
        case .http(let status)?: return HTTPResponse(status)
        case .status(let status, let isRetryable)?: return Self.answer(status, isRetryable: isRetryable)
        case nil: break
        }
        do throws(ReceiptRefusal) {
            return Self.answer(try answer(to: request, environment))
        } catch {
            return Self.answer(error.status)
        }
    }

    private func answer(to request: HTTPRequest, _ environment: StoreEnvironment) throws(ReceiptRefusal) -> Payload {
        guard request.method == .post, let body = try? JSONDocument(request.body).root.object else {
            throw ReceiptRefusal(.unreadableRequest)
        }
        guard let text = body["receipt-data"]?.string else { throw ReceiptRefusal(.malformedReceipt) }
        let password = body["password"].map { Password.sent($0.string ?? "") } ?? .none
        switch try ReceivedReceipt(text, signedBy: simulator.authority) {
        case .app(let receipt):
            return try answer(receipt, environment, password, excludesOld: body["exclude-old-transactions"]?.bool)
        case .transaction(let receipt): return try answer(receipt, environment, password)
        }
    }

    private enum Password {
        case none
        case sent(String)
    }

    private func answer(
        _ receipt: AppReceipt,
        _ environment: StoreEnvironment,
        _ password: Password,
        excludesOld: Bool?
    ) throws(ReceiptRefusal) -> Payload {
        switch receipt.kind {
        case "Production", "ProductionVPP": try Self.check(.production, environment)
        case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": try Self.check(.sandbox, environment)
        default: throw ReceiptRefusal(.notAuthenticated)
        }
        let ids = receipt.purchases.compactMap { receipt.string($0.transactionID) }
        let found = simulator.read { store in
            let owner = ids.lazy.compactMap { store.owner(ofAny: $0) }.first
            let app = receipt.bundleID.flatMap { BundleID($0) }.flatMap { store.apps[$0] }
            return (app: app, ledger: owner.flatMap { CustomerLedger(store, $0) }, now: store.now)
        }
        guard let app = found.app, ids.isEmpty || found.ledger?.app.bundleID == app.bundleID else {
            throw ReceiptRefusal(.accountNotFound)
        }
        var answer = ReceiptAnswer(receipt, environment, at: found.now)
        try Self.check(password, app, isNeeded: answer.hasSubscriptions)
        answer.ledger = found.ledger
        answer.excludesOldTransactions = excludesOld ?? false
        if answer.hasSubscriptions, let ledger = found.ledger {
            answer.latestReceipt = try made { receipts throws(CryptoError) in try receipts.appReceipt(ledger) }
        }
        return answer.payload
    }

    private func answer(
        _ receipt: PlistReceipt,
        _ environment: StoreEnvironment,
        _ password: Password
    ) throws(ReceiptRefusal) -> Payload {
        let id = receipt.purchase.transactionID ?? ""
        let found = simulator.read { store in
            store.owner(ofAny: id).flatMap { CustomerLedger(store, $0) }
        }
        guard let ledger = found, let sold = TransactionID(id).flatMap({ ledger.transaction($0) }) else {
            throw ReceiptRefusal(.accountNotFound)
        }
        // What the receipt says of its environment is not signed; the ledger knows.
        try Self.check(ledger.environment, environment)
        var answer = OldReceiptAnswer(receipt, sold, ledger)
        try Self.check(password, ledger.app, isNeeded: sold.isSubscription)
        if let subscription = answer.subscription, !answer.hasExpired {
            answer.latestReceipt = try made { receipts throws(CryptoError) in
                try receipts.transactionReceipt(subscription.current, ledger)
            }
        }
        return answer.payload
    }

    // MARK: Checks

    private static func check(_ made: StoreEnvironment, _ asked: StoreEnvironment) throws(ReceiptRefusal) {
        guard made != asked else { return }
        throw ReceiptRefusal(asked == .production ? .sandboxReceipt : .productionReceipt)
    }

    /// A wrong password is refused even where none is needed.
    private static func check(_ password: Password, _ app: StoreApp, isNeeded: Bool) throws(ReceiptRefusal) {
        switch password {
        case .none where isNeeded: throw ReceiptRefusal(.wrongSharedSecret)
        case .none: return
        case .sent(let text):
            guard MessageAuthentication.areEqual(Array(text.utf8), Array(app.sharedSecret.utf8)) else {
                throw ReceiptRefusal(.wrongSharedSecret)
            }
        }
    }

    private func made(
        _ make: (CustomerReceipts) throws(CryptoError) -> [UInt8]
    ) throws(ReceiptRefusal) -> [UInt8] {
        do throws(CryptoError) {
            return try make(CustomerReceipts(simulator.authority))
        } catch {
            throw ReceiptRefusal(.internalError)
        }
    }

    // MARK: The answer

    private static func answer(_ status: VerifyReceiptStatus, isRetryable: Bool? = nil) -> HTTPResponse {
        var payload = Payload()
        payload.set("status", status.rawValue)
        if status.isInternalDataAccessError { payload.set("is-retryable", isRetryable ?? true) }
        return answer(payload)
    }

    /// Always 200: the number tells.
    private static func answer(_ payload: Payload) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "application/json",
            // The day on which Apple declared it deprecated.
            "Deprecation": "Mon, 05 Jun 2023 00:00:00 GMT",
        ]
        return HTTPResponse(.ok, fields: fields, body: payload.json)
    }
}
