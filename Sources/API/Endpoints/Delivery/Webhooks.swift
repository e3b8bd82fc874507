import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/webhooks`: where an app's events are sent to. The same request again under its `Idempotency-Key` is answered
/// without the secret.
struct Webhooks: Sendable {
    let store: any Store
    let clock: any WallClock
    let rule: EgressRule
    let sender: WebhookSender?

    /// More are of no use to a shop, and each costs a row for every event.
    private static let endpointsMax = 20
    /// So much is given up in the write that deletes an endpoint; each may be of something that was granted.
    private static let givenUpMax = 200

    /// `POST /v1/webhooks`. The secret is in this answer, and in none after it.
    func create(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> Gate.Answer {
        let endpoint: WebhookEndpoint
        let last = try transaction.lastEventCursor(app: change.app.id)
        let now = try transaction.storeTime(change.now)
        do throws(RequestBody.Fault) {
            let id = WebhookEndpointID(
                checked: WebhookEndpointID.prefix + Hexadecimal.encode(SecureRandom.bytes(12))
            )
            endpoint = try WebhookRequest(change.request.body, rule)
                .endpoint(app: change.app.id, id: id, at: now, after: last)
            try Webhooks.check(endpoint, for: change.app)
        } catch {
            return Gate.Answer(error.response)
        }
        guard try transaction.holdEndpoints(app: change.app.id).count < Webhooks.endpointsMax else {
            return Gate.Answer(
                Problem.conflict("too_many_webhooks", "An app has at most \(Webhooks.endpointsMax) endpoints.")
            )
        }
        try transaction.createEndpoint(endpoint)
        return Webhooks.answer(.created, endpoint)
    }

    /// `POST /v1/webhooks/{id}`: what is said is changed, and the rest stays.
    func update(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard var endpoint = try endpoint(change, transaction) else { return Problem.notFound("webhook") }
        let (now, last) = (try transaction.storeTime(change.now), try transaction.lastEventCursor(app: change.app.id))
        do throws(RequestBody.Fault) {
            try WebhookRequest(change.request.body, rule).change(&endpoint, at: now, after: last)
            try Webhooks.check(endpoint, for: change.app)
        } catch {
            return error.response
        }
        return try write(endpoint, transaction)
    }

    /// `POST /v1/webhooks/{id}/rotate`: a new secret signs beside the others, or, with `{"keep": 1}`, so many of the newest
    /// stay.
    func rotate(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> Gate.Answer {
        guard var endpoint = try endpoint(change, transaction) else {
            return Gate.Answer(Problem.notFound("webhook"))
        }
        let kept: Int64?
        do throws(RequestBody.Fault) {
            let body = try RequestBody(optional: change.request.body, members: ["keep"])
            kept = try body.whole("keep", 1...Int64(WebhookEndpoint.secretsMax))
        } catch {
            return Gate.Answer(error.response)
        }
        guard let kept else {
            endpoint.addSecret()
            _ = try transaction.updateEndpoint(endpoint)
            return Webhooks.answer(.ok, endpoint)
        }
        endpoint.keepSecrets(Int(kept))
        return Gate.Answer(try write(endpoint, transaction))
    }

    /// `POST /v1/webhooks/{id}/delete`: what it was still to be sent is given up, in this write as much as one takes, and
    /// the rest at the next sweep.
    func delete(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard let endpoint = try endpoint(change, transaction) else { return Problem.notFound("webhook") }
        if let fault = RequestBody.fault(unlessEmpty: change.request.body) { return fault.response }
        try transaction.deleteEndpoint(endpoint.id, version: endpoint.version)
        let count = try LedgerRequests.giveUp(
            endpoint.id,
            limit: Webhooks.givenUpMax,
            at: change.now,
            in: transaction
        )
        return .json(.ok) { json in
            json.member("webhook_id", endpoint.id.text)
            json.member("given_up", count)
        }
    }

    /// `POST /v1/webhooks/{id}/replay`: one event, all dead ones, or all of a time; a step at a time, by `cursor`.
    func replay(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard let endpoint = try endpoint(change, transaction) else { return Problem.notFound("webhook") }
        let asked: Replay
        do throws(RequestBody.Fault) { asked = try Webhooks.read(change.request.body) } catch {
            return error.response
        }
        switch asked {
        case .one(let event):
            let fault = try EventReplay(of: event, to: endpoint).carryOut(transaction, at: change.now)
            return fault.map(Webhooks.problem) ?? .json(.ok) { $0.member("replayed", 1) }
        case .many(let replay, let cursor):
            let step = try replay.carryOut(to: endpoint, after: cursor, at: change.now, in: transaction)
            return .json(.ok) { json in
                json.member("replayed", step.replayed)
                json.member("cursor", step.next?.position)
            }
        }
    }

    /// What a person has sent again is not to wait for an endpoint that is left alone.
    func reopen(_ path: PathParameters) {
        if let id = path["id"].flatMap({ WebhookEndpointID($0) }) { sender?.reopen(id) }
    }

    private static func problem(_ fault: EventReplay.Fault) -> HTTPResponse {
        switch fault {
        case .unknown: Problem.notFound("event")
        case .unwanted: Problem.conflict("event_unwanted", "The endpoint takes no such events, and was never sent it.")
        case .underWay: Problem.conflict("delivery_under_way", "It is due, or on its way already.")
        }
    }

    private static func problem(_ refusal: WebhookSender.TestRefusal) -> HTTPResponse {
        let pause = WebhookSender.TestRefusal.pause
        return switch refusal {
        case .underWay:
            Problem.response(
                .tooManyRequests,
                code: "test_under_way",
                detail: "A test message to this endpoint is under way.",
                retryAfter: pause
            )
        case .tooMany:
            Problem.response(
                .serviceUnavailable,
                code: "too_many_tests",
                detail: "As many test messages are under way as may be.",
                retryAfter: pause
            )
        }
    }

    private enum Replay {
        case one(EventID)
        case many(WebhookReplay, EventCursor)
    }

    private static func read(_ bytes: [UInt8]) throws(RequestBody.Fault) -> Replay {
        let body = try RequestBody(bytes, members: ["event_id", "dead", "from", "to", "cursor"])
        if body.has("event_id") {
            try body.refuse(["dead", "from", "to", "cursor"], beside: "event_id")
            guard let event = try body.text("event_id").flatMap({ EventID($0) }) else {
                throw RequestBody.Fault(field: "event_id", detail: "An event's id is needed.")
            }
            return .one(event)
        }
        return .many(try range(body), EventCursor(position: try body.whole("cursor", 0...Int64.max) ?? 0))
    }

    private static func range(_ body: RequestBody) throws(RequestBody.Fault) -> WebhookReplay {
        if body.has("dead") {
            try body.refuse(["from", "to"], beside: "dead")
            guard try body.bool("dead") == true else {
                throw RequestBody.Fault(field: "dead", detail: "true is needed, or from and to.")
            }
            return .dead
        }
        return .learned(
            from: try RequestBody.needed(body.moment("from"), "from"),
            to: try RequestBody.needed(body.moment("to"), "to")
        )
    }

    /// `POST /v1/webhooks/{id}/test`: sends a message that stands for nothing, once, and says what was answered.
    func test(_ text: String, _ body: [UInt8], app: AppPolicy) async -> HTTPResponse {
        guard let sender else { return Problem.notFound("webhook sender") }
        do throws(StoreFailure) {
            guard let endpoint = try await find(text, app: app) else { return Problem.notFound("webhook") }
            if let fault = RequestBody.fault(unlessEmpty: body) { return fault.response }
            let id = WebhookMessageID.ofTest()
            let result: WebhookPost.Result
            do throws(WebhookSender.TestRefusal) {
                result = try await sender.sendTest(to: endpoint, id: id)
            } catch {
                return Webhooks.problem(error)
            }
            return .json(.ok) { json in
                json.member("message_id", id.text)
                json.member("status", result.status)
                json.member("failure", result.failure)
                json.member("address", result.address)
                json.member("milliseconds", Int(result.duration / .milliseconds(1)))
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/webhooks/{id}`, with how it is doing.
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            guard let endpoint = try await find(text, app: app) else { return Problem.notFound("webhook") }
            let figures = try await store.read { reader throws(StoreFailure) in
                try reader.webhookFigures(endpoint.id)
            }
            return .json(.ok) { json in
                Webhooks.write(endpoint, into: &json)
                json.member("backlog", figures?.backlog)
                json.member("dead", figures?.dead)
                json.member("oldest_waiting", figures?.oldest)
                json.member("failing_since", figures?.failingSince)
                json.member("paused_until", sender?.standing(of: endpoint.id)?.closedUntil(at: clock.now))
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/webhooks`
    func list(app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let endpoints = try await store.read { reader throws(StoreFailure) in try reader.endpoints(app: app.id) }
            return .json(.ok) { json in
                json.array("webhooks") { json in
                    for endpoint in endpoints where app.shows(endpoint) {
                        json.object { Webhooks.write(endpoint, into: &$0) }
                    }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    private func find(_ text: String, app: AppPolicy) async throws(StoreFailure) -> WebhookEndpoint? {
        guard let id = WebhookEndpointID(text) else { return nil }
        let found = try await store.read { reader throws(StoreFailure) in try reader.endpoint(id) }
        return found.flatMap { app.shows($0) ? $0 : nil }
    }

    private func endpoint(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> WebhookEndpoint? {
        guard let id = change.path["id"].flatMap({ WebhookEndpointID($0) }) else { return nil }
        let found = try transaction.endpoint(id)
        return found.flatMap { change.app.shows($0) ? $0 : nil }
    }

    private static func check(_ endpoint: WebhookEndpoint, for app: AppPolicy) throws(RequestBody.Fault) {
        guard !app.shows(endpoint) else { return }
        throw RequestBody.Fault(field: "environments", detail: "This key knows of some of these stores nothing.")
    }

    private func write(
        _ endpoint: WebhookEndpoint,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> HTTPResponse {
        _ = try transaction.updateEndpoint(endpoint)
        return .json(.ok) { Webhooks.write(endpoint, into: &$0) }
    }

    /// With the newest secret, and kept without it.
    private static func answer(_ status: HTTPStatus, _ endpoint: WebhookEndpoint) -> Gate.Answer {
        Gate.Answer(
            shown: .json(status) { json in
                write(endpoint, into: &json)
                json.member("secret", endpoint.secrets.first?.text)
            },
            kept: .json(status) { write(endpoint, into: &$0) }
        )
    }

    private static func write(_ endpoint: WebhookEndpoint, into json: inout JSONObjectWriter) {
        json.member("webhook_id", endpoint.id.text)
        json.member("url", endpoint.url)
        json.member("is_enabled", endpoint.isEnabled)
        json.member("disabled_reason", endpoint.disabledReason)
        json.member("disabled_at", endpoint.disabledAt)
        if let missed = MissedEvents(of: endpoint) {
            // The body of a replay, as it stands.
            json.object("missed") { json in
                json.member("from", missed.from)
                json.member("to", missed.to)
                json.member("cursor", missed.after.position)
            }
        }
        if let types = endpoint.filter.types { json.array("types") { for type in types.sorted() { $0.element(type) } } }
        let environments = Set(endpoint.filter.realms.map(\.environment.rawValue))
        json.array("environments") { for name in environments.sorted() { $0.element(name) } }
        json.member("include_test_signed", endpoint.filter.realms.contains(where: \.isTestSigned))
        json.member("order_per_customer", endpoint.ordersPerCustomer)
        json.member("acknowledge_by_2xx", endpoint.acknowledgesBy2xx)
        json.member("concurrency", endpoint.concurrencyMax)
        json.member("per_second", endpoint.perSecondMax)
        json.member("public_key", endpoint.publicKey?.text)
        json.member("secrets_in_use", endpoint.secrets.count)
        json.member("created_at", endpoint.createdAt)
    }
}

extension AppPolicy {
    /// Whether an endpoint is the app's, and neither is nor ever was to be sent what whoever asks may not know: that is in its
    /// log, and what waits or is dead would go to the address that it is given.
    func shows(_ endpoint: WebhookEndpoint) -> Bool {
        endpoint.app == id && endpoint.realmsEver.allSatisfy { shows($0) }
    }
}
