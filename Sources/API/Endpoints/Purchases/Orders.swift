import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/orders`: what is to be paid, placed before it is bought.
struct Orders: Sendable {
    let store: any Store

    private static let members: Set<String> = [
        "order_id", "customer_id", "product_id", "quantity", "app_account_token", "expires_in_seconds",
    ]
    /// A payment sheet is not open for longer; a payment that comes later still counts.
    private static let secondsUsual: Int64 = 86_400
    private static let secondsMax: Int64 = 366 * 86_400

    /// `POST /v1/orders`
    static func place(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        let order: Order
        do throws(RequestBody.Fault) { order = try read(change) } catch { return error.response }
        if let products = change.app.terms.products, products[order.product] == nil {
            return RequestBody.Fault(field: "product_id", detail: "There is no such product.").response
        }
        let placed = try LedgerRequests.place(order, for: change.app, at: change.now, in: transaction)
        // What has paid the one that is there stands in another store: its name is taken, and no more is said.
        if case .success(let order) = placed, !order.isShown(by: change.app) {
            return Problem.request(.otherOrder, "order or purchase")
        }
        return answer(placed, .created)
    }

    private static func read(_ change: Gate.Change) throws(RequestBody.Fault) -> Order {
        let body = try RequestBody(change.request.body, members: members)
        let seconds = try body.whole("expires_in_seconds", 1...secondsMax) ?? secondsUsual
        return Order(
            app: change.app.id,
            id: try RequestBody.needed(body.identifier("order_id"), "order_id"),
            customer: try RequestBody.needed(body.identifier("customer_id"), "customer_id"),
            product: try RequestBody.needed(body.identifier("product_id"), "product_id"),
            quantity: Int(try body.whole("quantity", 1...1_000) ?? 1),
            accountToken: try accountToken(body),
            placedAt: change.now,
            expiresAt: change.now.advanced(by: .seconds(seconds))
        )
    }

    /// All zeros is what a program writes where it has no token: the first order that named it would own all such purchases.
    private static func accountToken(_ body: RequestBody) throws(RequestBody.Fault) -> AccountToken? {
        let token = try body.accountToken("app_account_token")
        guard token != AccountToken(high: 0, low: 0) else {
            throw RequestBody.Fault(field: "app_account_token", detail: "A UUID of zeros is nobody's.")
        }
        return token
    }

    /// `POST /v1/orders/{id}/cancel`
    static func cancel(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    {
        if let fault = RequestBody.fault(unlessEmpty: change.request.body) { return fault.response }
        guard let key = key(change) else { return Problem.notFound("order") }
        return answer(try LedgerRequests.cancel(key, for: change.app, at: change.now, in: transaction), .ok)
    }

    /// `POST /v1/orders/{id}/attach`: a transaction that waits, or was given without an order, pays this one, because a person
    /// says so.
    static func attach(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    {
        guard let key = key(change) else { return Problem.notFound("order") }
        let bought: TransactionKey
        let overrulesToken: Bool
        do throws(RequestBody.Fault) {
            let body = try RequestBody(
                change.request.body,
                members: ["transaction_id", "environment", "test_signed", "overrule_account_token"]
            )
            guard let id = try body.text("transaction_id").flatMap({ TransactionID($0) }) else {
                throw RequestBody.Fault(field: "transaction_id", detail: "A transaction's number is needed.")
            }
            bought = TransactionKey(app: change.app.id, realm: try body.realm(), id: id)
            overrulesToken = try body.bool("overrule_account_token") ?? false
        } catch {
            return error.response
        }
        guard change.app.shows(bought.realm) else { return Problem.notFound("purchase") }
        let result = try LedgerRequests.attach(
            bought,
            to: key,
            overrulesToken: overrulesToken,
            for: change.app,
            at: change.now,
            in: transaction
        )
        return answer(result, .ok)
    }

    /// `GET /v1/orders/{id}`
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = OrderID(text) else { return Problem.notFound("order") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.orders([OrderKey(app: app.id, id: id)]).first
            }
            guard let found, found.isShown(by: app) else { return Problem.notFound("order") }
            return .json(.ok) { OrderJSON.write(found, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/orders`, by their ids; `?customer_id=`, `?limit=`, `?after=` the `next` of the page before.
    func list(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        let fields: QueryFields
        do throws(QueryFields.Fault) {
            fields = try QueryFields(query, names: ["customer_id", "limit", "after"])
            let customer: CustomerID? = try fields.identifier("customer_id")
            let after: OrderID? = try fields.identifier("after")
            let limit = try fields.limit(OrderPage.limitMax)
            return await list(customer, after, limit, app: app)
        } catch {
            return error.response
        }
    }

    private func list(_ customer: CustomerID?, _ after: OrderID?, _ limit: Int, app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.orders(app: app.id, customer: customer, after: after, limit: limit)
            }
            return .json(.ok) { json in
                json.array("orders") { json in
                    for order in page.orders where order.isShown(by: app) {
                        json.object { OrderJSON.write(order, into: &$0) }
                    }
                }
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func key(_ change: Gate.Change) -> OrderKey? {
        change.path["id"].flatMap { OrderID($0) }.map { OrderKey(app: change.app.id, id: $0) }
    }

    private static func answer(_ result: Result<Order, RequestFault>, _ status: HTTPStatus) -> HTTPResponse {
        switch result {
        case .success(let order): .json(status) { OrderJSON.write(order, into: &$0) }
        case .failure(let fault): Problem.request(fault, "order or purchase")
        }
    }
}
