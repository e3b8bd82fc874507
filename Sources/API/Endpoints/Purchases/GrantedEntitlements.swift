import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/customers/{id}/granted-entitlements`: what a person gave a customer without a purchase.
struct GrantedEntitlements: Sendable {
    let store: any Store

    /// `GET /v1/customers/{id}/granted-entitlements`: all that ever were, with who changed them last, and why.
    func list(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.grantedEntitlements(app: app.id, customer: customer).filter { app.shows($0.key.realm) }
            }
            return .json(.ok) { json in
                json.member("customer_id", customer.text)
                json.array("granted_entitlements") { json in
                    for row in found { json.object { GrantedEntitlementJSON.write(row, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/customers/{id}/granted-entitlements/{entitlement}/grant`: until a moment, or with `null` for ever.
    static func grant(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        let asked: (realm: Realm, motive: Motive)
        let end: Timestamp?
        do throws(RequestBody.Fault) {
            let body = try RequestBody(change.request.body, members: members.union(["until"]))
            asked = try read(body, change)
            // For ever is said, so that what a client forgets is not given away.
            guard body.has("until") else {
                throw RequestBody.Fault(field: "until", detail: "A moment or null is needed.")
            }
            end = try body.moment("until")
        } catch {
            return error.response
        }
        guard let key = key(change, asked.realm) else { return Problem.notFound("entitlement") }
        if let fault = RequestBody.fault(givingTo: key.customer) { return fault.response }
        return answer(
            try LedgerRequests.grant(
                key,
                until: end,
                because: asked.motive,
                for: change.app,
                at: change.now,
                in: transaction
            )
        )
    }

    /// `POST /v1/customers/{id}/granted-entitlements/{entitlement}/revoke`: what was bought stays.
    static func revoke(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    {
        let asked: (realm: Realm, motive: Motive)
        do throws(RequestBody.Fault) {
            asked = try read(RequestBody(optional: change.request.body, members: members), change)
        } catch {
            return error.response
        }
        guard let key = key(change, asked.realm) else { return Problem.notFound("entitlement") }
        return answer(try LedgerRequests.revoke(key, because: asked.motive, at: change.now, in: transaction))
    }

    private static let members: Set = ["reason", "environment", "test_signed"]

    private static func read(
        _ body: RequestBody,
        _ change: Gate.Change
    ) throws(RequestBody.Fault) -> (realm: Realm, motive: Motive) {
        let reason = try body.text("reason")
        if let reason, !Motive.isReason(reason) {
            throw RequestBody.Fault(field: "reason", detail: "1 to \(Motive.reasonMax) characters are needed.")
        }
        return (try body.realm(), Motive(actor: change.actor, reason: reason))
    }

    private static func key(_ change: Gate.Change, _ realm: Realm) -> GrantedEntitlementKey? {
        guard let customer = change.path["id"].flatMap({ CustomerID($0) }),
            let entitlement = change.path["entitlement"].flatMap({ EntitlementID($0) }), change.app.shows(realm)
        else { return nil }
        return GrantedEntitlementKey(app: change.app.id, realm: realm, customer: customer, entitlement: entitlement)
    }

    private static func answer(_ result: Result<GrantedEntitlement, RequestFault>) -> HTTPResponse {
        switch result {
        case .success(let row): .json(.ok) { GrantedEntitlementJSON.write(row, into: &$0) }
        case .failure(let fault): Problem.request(fault, "entitlement")
        }
    }
}
