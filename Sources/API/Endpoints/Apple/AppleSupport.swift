import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/apple`: what people who help customers have Apple asked, or told. Each is taken in at once, and answered later.
struct AppleSupport: Sendable {
    /// How many requests one listing looks at: most may be of a store that the key does not see.
    private static let lookedAtMax = 2_000

    let store: any Store
    let queue: SupportQueue
    /// Those that have a key of App Store Connect.
    let apps: Set<AppID>

    private typealias Read = (Gate.Change) throws(RequestBody.Fault) -> SupportQuestion?

    /// `POST /v1/apple/orders/{id}/lookup`: by the order's number in Apple's mail.
    func lookUp(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try take(change, transaction) { change throws(RequestBody.Fault) in
            _ = try RequestBody(optional: change.request.body, members: [])
            guard let order = change.path["id"], Self.isOrderNumber(order) else { return nil }
            return .lookUpOrder(order)
        }
    }

    /// `POST /v1/apple/subscriptions/{id}/extend`: free days for one, by its original transaction.
    func extend(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try take(change, transaction) { change throws(RequestBody.Fault) in
            let body = try RequestBody(change.request.body, members: ["days", "reason", "environment"])
            guard let id = change.path["id"].flatMap({ TransactionID($0) }) else { return nil }
            return .extend(id, try Self.environment(body), try Self.terms(body))
        }
    }

    /// `POST /v1/apple/subscriptions/extend`: free days for all who subscribe to a product.
    func extendAll(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try take(change, transaction) { change throws(RequestBody.Fault) in
            let body = try RequestBody(
                change.request.body,
                members: ["product_id", "days", "reason", "storefronts", "environment"]
            )
            let product: ProductID = try RequestBody.needed(body.identifier("product_id"), "product_id")
            let storefronts = try Self.storefronts(body)
            let store = try Self.environment(body)
            // The path names nothing that this key could not see.
            guard change.app.shows(Realm(environment: store, isTestSigned: false)) else {
                throw RequestBody.Fault(field: "environment", detail: "The key is limited to other stores.")
            }
            return .extendAll(product, store, try Self.terms(body), storefronts: storefronts)
        }
    }

    /// `POST /v1/apple/transactions/{id}/account-token`: whose a purchase is, by its original transaction.
    func setToken(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try take(change, transaction) { change throws(RequestBody.Fault) in
            let body = try RequestBody(change.request.body, members: ["app_account_token", "environment"])
            guard let id = change.path["id"].flatMap({ TransactionID($0) }) else { return nil }
            let token = try RequestBody.needed(body.accountToken("app_account_token"), "app_account_token")
            return .setToken(token, id, try Self.environment(body))
        }
    }

    /// `POST /v1/apple/customers/{id}/account-token`: the same of all that a customer has bought.
    func setTokens(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try take(change, transaction) { change throws(RequestBody.Fault) in
            let body = try RequestBody(change.request.body, members: ["app_account_token", "environment"])
            guard let customer = change.path["id"].flatMap({ CustomerID($0) }) else { return nil }
            let token = try RequestBody.needed(body.accountToken("app_account_token"), "app_account_token")
            return .setTokens(token, customer, try Self.environment(body))
        }
    }

    /// `GET /v1/apple/requests/{id}`: where it stands, and what Apple has answered.
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = SupportRequestID(text) else { return Problem.notFound("request") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.supportRequest(app: app.id, id: id)
            }
            guard let found, app.shows(SupportJSON.realm(of: found)) else { return Problem.notFound("request") }
            return .json(.ok) { SupportJSON.write(found, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/apple/requests`, the newest first.
    func list(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["limit", "after"])
            return await list(before: try fields.place(), try fields.limit(SupportPage.limitMax), app: app)
        } catch {
            return error.response
        }
    }

    private func list(before place: SupportCursor?, _ limit: Int, app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try Self.requests(of: app, before: place, limit: limit, in: reader)
            }
            return .json(.ok) { json in
                json.array("requests") { json in
                    for request in page.requests { json.object { SupportJSON.write(request, into: &$0) } }
                }
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// Those that the key sees. Where it sees all of them one reading is enough.
    private static func requests(
        of app: AppPolicy,
        before start: SupportCursor?,
        limit: Int,
        in reader: any StoreReader
    ) throws(StoreFailure) -> SupportPage {
        if app.showsAll { return try reader.supportRequests(app: app.id, before: start, limit: limit) }
        var (found, place, lookedAt) = ([SupportRequest](), start, 0)
        var seen = SeenPlace(.newestFirst, from: start)
        while true {
            let page = try reader.supportRequests(app: app.id, before: place, limit: SupportPage.limitMax)
            for request in page.requests where app.shows(SupportJSON.realm(of: request)) {
                // This one is the next page's.
                if found.count == limit { return SupportPage(requests: found, next: seen.lastSeen) }
                found.append(request)
                seen.lastSeen = SupportCursor(request.askedAt, request.id)
            }
            lookedAt += page.requests.count
            guard let next = page.next else { return SupportPage(requests: found) }
            if lookedAt >= lookedAtMax, let told = seen.told(next) { return SupportPage(requests: found, next: told) }
            place = next
        }
    }

    private func take(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction,
        _ read: Read
    ) throws(StoreFailure) -> HTTPResponse {
        let question: SupportQuestion?
        do throws(RequestBody.Fault) { question = try read(change) } catch { return error.response }
        guard let question, change.app.shows(question.realm) else {
            return Problem.notFound("order, transaction or customer")
        }
        guard apps.contains(change.app.id) else {
            return Problem.conflict("no_key", "The app has no key of App Store Connect configured.")
        }
        let (app, actor) = (change.app.id, change.actor)
        let request = try queue.take(question, for: app, by: actor, at: change.now, in: transaction)
        return .json(.accepted) { SupportJSON.write(request, into: &$0) }
    }

    /// Says where the answer is to be read. Of a request that is repeated only the body was kept.
    static func locating(_ route: Route) -> Route {
        Route(route.method, route.template) { request, path in
            var response = await route.respond(request, path)
            if response.status == .accepted, let id = try? JSONDocument(response.body).root.object?["id"]?.string {
                response.fields["Location"] = "/v1/apple/requests/\(id)"
            }
            return response
        }
    }

    /// Letters and digits are all that Apple's numbers have.
    private static func isOrderNumber(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            }
    }

    /// Only these two can be asked.
    private static func environment(_ body: RequestBody) throws(RequestBody.Fault) -> StoreEnvironment {
        let environment = try body.text("environment").map { StoreEnvironment(rawValue: $0) } ?? .production
        guard [.production, .sandbox].contains(environment) else {
            throw RequestBody.Fault(field: "environment", detail: "production or sandbox is needed.")
        }
        return environment
    }

    private static func terms(_ body: RequestBody) throws(RequestBody.Fault) -> ExtensionTerms {
        let days = try RequestBody.needed(body.whole("days", ExtensionTerms.daysRange), "days")
        guard let text = try body.text("reason") else { return ExtensionTerms(days: Int(days), reason: .undeclared) }
        guard let reason = ExtensionReason(rawValue: text) else {
            let words = ExtensionReason.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestBody.Fault(field: "reason", detail: "One of \(words) is needed.")
        }
        return ExtensionTerms(days: Int(days), reason: reason)
    }

    private static func storefronts(_ body: RequestBody) throws(RequestBody.Fault) -> [String]? {
        guard let value = body["storefronts"] else { return nil }
        let fault = RequestBody.Fault(
            field: "storefronts",
            detail: "An array of 1 to 200 countries in three letters, such as USA, is needed."
        )
        guard let array = value.array else { throw fault }
        let countries = array.compactMap { value in
            value.string.flatMap { text in
                text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) } ? text : nil
            }
        }
        guard countries.count == array.count, (1...200).contains(countries.count) else { throw fault }
        return countries
    }
}
