import Encoding
import HTTP
import PurchaseModel

// Extend a Subscription Renewal Date, for one customer and for all, and how the latter went.
extension ServerAPI {
    func extend(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id(else: .invalidOriginalTransactionID)
        let body = try call.body()
        let identifier = try Self.identifier(body)
        guard (1...128).contains(identifier.unicodeScalars.count) else { throw .invalidRequestIdentifier }
        let terms = try Self.terms(body, identifier)
        let (line, item) = try simulator.change { store throws(ServerAPIError) in
            guard let sold = store.transaction(id, for: call), sold.id == sold.originalID else {
                throw .originalTransactionNotFound
            }
            guard sold.isSubscription else { throw .extensionIneligible }
            do throws(ActRefusal) {
                _ = try store.perform(.extend(sold.id, terms))
            } catch {
                throw Self.fault(error)
            }
            guard let line = store.lines[sold.id] else { throw .originalTransactionNotFound }
            return (line, store.transactions[line.current]?.fact.webOrderLineItem)
        }
        return .answer { json in
            json.member("originalTransactionId", line.originalID.description)
            json.member("webOrderLineItemId", item)
            json.member("success", true)
            json.member("effectiveDate", line.expiresAt.milliseconds)
        }
    }

    func extendAll(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let body = try call.body()
        let identifier = try Self.identifier(body)
        guard AccountToken(identifier) != nil else { throw .invalidRequestIdentifier }
        let terms = try Self.terms(body, identifier)
        guard let product = body.given("productId")?.string.flatMap({ ProductID($0) }) else { throw .invalidProductID }
        var request = Act.MassExtension(
            app: call.app.bundleID,
            environment: call.environment,
            product: product,
            terms: terms
        )
        request.countries = try Self.countries(body)
        try simulator.change { store throws(ServerAPIError) in
            // Sent again, a request changes nothing.
            if Self.run(of: product, identifier, call, in: store) != nil { return }
            do throws(ActRefusal) {
                _ = try store.perform(.extendAll(request))
            } catch {
                throw .invalidProductID
            }
        }
        return .answer { json in json.member("requestIdentifier", identifier) }
    }

    func extensionStatus(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let identifier = call.parameter("request")
        guard AccountToken(identifier) != nil else { throw .invalidRequestIdentifier }
        guard let product = ProductID(call.parameter("product")) else { throw .invalidProductID }
        let run = try simulator.find { store throws(ServerAPIError) in
            guard store.apps[call.app.bundleID]?.products[product] != nil else { throw .invalidProductID }
            guard let run = Self.run(of: product, identifier, call, in: store) else { throw .statusRequestNotFound }
            return run
        }
        return .answer { json in
            json.member("requestIdentifier", run.request.terms.requestIdentifier)
            json.member("complete", run.completedAt != nil)
            guard let completedAt = run.completedAt else { return }
            json.member("completeDate", completedAt.milliseconds)
            json.member("succeededCount", run.succeeded)
            json.member("failedCount", run.failed)
        }
    }

    private static func run(
        of product: ProductID,
        _ identifier: String,
        _ call: MerchantCall,
        in store: SimulatedStore
    ) -> SimulatedStore.MassExtensionRun? {
        store.massExtensions.first { run in
            run.request.app == call.app.bundleID && run.request.environment == call.environment
                && run.request.product == product
                && AccountToken(run.request.terms.requestIdentifier) == AccountToken(identifier)
        }
    }

    private static func identifier(_ body: JSONObject) throws(ServerAPIError) -> String {
        guard let text = body.given("requestIdentifier")?.string else { throw .invalidRequestIdentifier }
        return text
    }

    private static func terms(_ body: JSONObject, _ identifier: String) throws(ServerAPIError) -> Act.Extension {
        guard let days = body.given("extendByDays")?.int64, (1...90).contains(days) else { throw .invalidExtendByDays }
        guard let reason = body.given("extendReasonCode")?.int64, (0...3).contains(reason) else {
            throw .invalidExtendReasonCode
        }
        return Act.Extension(days: Int(days), reason: Int(reason), requestIdentifier: identifier)
    }

    /// None for all storefronts.
    private static func countries(_ body: JSONObject) throws(ServerAPIError) -> [String] {
        guard let value = body.given("storefrontCountryCodes") else { return [] }
        guard let list = value.array else { throw .invalidStorefront }
        guard !list.isEmpty else { throw .emptyStorefrontList }
        var countries: [String] = []
        for element in list {
            guard let text = element.string, isCountry(text) else { throw .invalidStorefront }
            countries.append(text)
        }
        return countries
    }

    /// Three capital letters, and none of those that ISO 3166-1 leaves to everybody's own use at the end of the list.
    private static func isCountry(_ text: String) -> Bool {
        let letters = Array(text.utf8)
        return letters.count == 3 && letters.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            && !letters.starts(with: Array("ZZ".utf8))
    }

    private static func fault(_ refusal: ActRefusal) -> ServerAPIError {
        switch refusal {
        case .extensionsUsedUp: .extensionsUsedUp
        case .familyShared: .familySharedExtension
        case .unknownTransaction, .notOriginal: .originalTransactionNotFound
        default: .extensionIneligible
        }
    }
}
