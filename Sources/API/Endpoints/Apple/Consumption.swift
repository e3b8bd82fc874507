import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/consumption-requests`: what Apple asks because a customer wants money back, what it is told, and who may say no.
struct Consumption: Sendable {
    let store: any Store
    let clock: any WallClock
    let queue: ConsumptionQueue

    /// `GET /v1/consumption-requests/{id}`: what would be sent now, or was, with the reason for each part of it.
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let key = Self.key(text, app) else { return Problem.notFound("consumption request") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) -> Found? in
                guard let request = try reader.consumptionRequests([key]).first else { return nil }
                return Found(
                    request: request,
                    facts: try reader.facts(of: request),
                    customer: try reader.owners([request.chain]).first?.customer,
                    audit: try reader.audit(app: app.id, of: AuditSubject(key))
                )
            }
            guard let found else { return Problem.notFound("consumption request") }
            return .json(.ok) { write(found, app.terms.consumption, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    private struct Found: Sendable {
        let request: ConsumptionRequest
        let facts: ConsumptionFacts
        let customer: CustomerID?
        let audit: [AuditEntry]
    }

    private func write(_ found: Found, _ terms: ConsumptionTerms, into json: inout JSONObjectWriter) {
        let (request, now) = (found.request, clock.now)
        ConsumptionJSON.write(request, into: &json)
        json.member("customer_id", found.customer?.text)
        if request.state == .open {
            if case .wait(_, let why) = nextStep(of: request, found.facts, terms, at: now) {
                json.member("waits_for", why.rawValue)
            }
            if let answer = preview(of: request, found.facts, terms, at: now) {
                json.object("would_send") { ConsumptionJSON.write(answer, into: &$0) }
            }
        }
        AuditJSON.write(found.audit, into: &json)
    }

    /// `GET /v1/consumption-requests`, the newest first.
    func list(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let names: Set = ["state", "transaction_id", "environment", "test_signed", "after", "limit"]
            let fields = try QueryFields(query, names: names)
            var state: ConsumptionState?
            if let text = fields["state"] {
                guard let known = ConsumptionState(rawValue: text) else {
                    let words = ConsumptionState.allCases.map(\.rawValue).joined(separator: ", ")
                    throw QueryFields.Fault(detail: "state is one of \(words).")
                }
                state = known
            }
            let filter = ConsumptionFilter(
                state: state,
                transaction: try fields.whole("transaction_id", 0...Int64.max).flatMap { TransactionID(number: $0) },
                realms: try fields.realms().filter(app.shows)
            )
            return await list(before: try fields.place(), filter, try fields.limit(ConsumptionPage.limitMax), app: app)
        } catch {
            return error.response
        }
    }

    private func list(
        before place: ConsumptionCursor?,
        _ filter: ConsumptionFilter,
        _ limit: Int,
        app: AppPolicy
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.consumptionRequests(app: app.id, before: place, where: filter, limit: limit)
            }
            return .json(.ok) { json in
                json.array("consumption_requests") { json in
                    for request in page.requests { json.object { ConsumptionJSON.write(request, into: &$0) } }
                }
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/consumption-requests/{id}/answer`: now, whatever the app's policy, but never without consent.
    func answer(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard let key = Self.key(change) else { return Problem.notFound("consumption request") }
        var word = ConsumptionWord()
        do throws(RequestBody.Fault) {
            let members: Set = ["refund_preference", "delivery_status"]
            let body = try RequestBody(optional: change.request.body, members: members)
            word.preference = try Self.word("refund_preference", body)
            word.delivery = try Self.word("delivery_status", body)
        } catch {
            return error.response
        }
        let result = try ConsumptionDesk.answer(
            key,
            word,
            for: change.app,
            by: change.actor,
            queue,
            at: change.now,
            in: transaction
        )
        return Self.answer(result)
    }

    private static func word<Word: CaseIterable & RawRepresentable<String>>(
        _ field: String,
        _ body: RequestBody
    ) throws(RequestBody.Fault) -> Word? {
        guard let text = try body.text(field) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestBody.Fault(field: field, detail: "One of \(words) is needed.")
        }
        return word
    }

    /// `POST /v1/consumption-requests/{id}/decline`
    static func decline(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> HTTPResponse {
        guard let key = key(change) else { return Problem.notFound("consumption request") }
        do throws(RequestBody.Fault) {
            _ = try RequestBody(optional: change.request.body, members: [])
        } catch {
            return error.response
        }
        return answer(try ConsumptionDesk.decline(key, by: change.actor, at: change.now, in: transaction))
    }

    private static func answer(_ result: Result<ConsumptionRequest, ConsumptionFault>) -> HTTPResponse {
        switch result {
        case .success(let request): .json(.ok) { ConsumptionJSON.write(request, into: &$0) }
        case .failure(.unknown): Problem.notFound("consumption request")
        case .failure(.requestIs(let state)):
            Problem.conflict(
                "request_is_\(state.rawValue)",
                "The request is past the state in which this can be done."
            )
        case .failure(.noConsent):
            Problem.conflict(
                "no_consent",
                "The customer has not consented that Apple is told of her purchases, or has withdrawn it."
            )
        case .failure(.deliveryUnknown):
            Problem.conflict(
                "delivery_unknown",
                "The ledger does not know whether this purchase was delivered: say so with delivery_status."
            )
        case .failure(.tooLate): Problem.conflict("too_late", "Apple does not wait for an answer any more.")
        case .failure(.notDivisible):
            Problem.conflict(
                "not_divisible",
                "A share of the price can be asked for only of what renews by itself, or was used in part."
            )
        }
    }

    private static func key(_ change: Gate.Change) -> ConsumptionKey? {
        change.path["id"].flatMap { key($0, change.app) }
    }

    private static func key(_ text: String, _ app: AppPolicy) -> ConsumptionKey? {
        guard let (name, realm) = SidedName.read(text.utf8), let id = NotificationID(name), app.shows(realm) else {
            return nil
        }
        return ConsumptionKey(app: app.id, realm: realm, id: id)
    }
}
