import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/customers/{id}/consent`: whether Apple may be told of a customer's purchases when she wants money back.
struct Consents: Sendable {
    let store: any Store

    /// `GET /v1/customers/{id}/consent`, with who recorded what.
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        let key = ConsentKey(app: app.id, subject: .customer(customer))
        do throws(StoreFailure) {
            let (consent, audit) = try await store.read { reader throws(StoreFailure) in
                (try reader.consents([key]).first, try reader.audit(app: app.id, of: AuditSubject(key.subject)))
            }
            return .json(.ok) { json in
                Self.write(consent, of: customer, app.terms.consumption, into: &json)
                AuditJSON.write(audit, into: &json)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/customers/{id}/consent`: she consents, or does not any more. What was sent before is not taken back.
    static func note(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard let customer = change.path["id"].flatMap({ CustomerID($0) }) else {
            return Problem.notFound("customer")
        }
        let isGiven: Bool
        do throws(RequestBody.Fault) {
            let body = try RequestBody(change.request.body, members: ["is_given"])
            isGiven = try RequestBody.needed(body.bool("is_given"), "is_given")
        } catch {
            return error.response
        }
        if isGiven, let fault = RequestBody.fault(givingTo: customer) { return fault.response }
        let consent = try ConsumptionDesk.note(
            isGiven,
            of: ConsentKey(app: change.app.id, subject: .customer(customer)),
            by: change.actor,
            at: change.now,
            in: transaction
        )
        return .json(.ok) { write(consent, of: customer, change.app.terms.consumption, into: &$0) }
    }

    /// What counts, and since when it is recorded: without a record the app's policy decides.
    private static func write(
        _ consent: Consent?,
        of customer: CustomerID,
        _ terms: ConsumptionTerms,
        into json: inout JSONObjectWriter
    ) {
        json.member("customer_id", customer.text)
        json.member("is_given", consent?.isGiven ?? (terms.consent == .byTerms))
        json.member("is_recorded", consent != nil)
        json.member("since", consent?.since)
    }
}
