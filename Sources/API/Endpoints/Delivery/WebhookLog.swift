import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/webhooks/{id}/deliveries`: what was sent to an endpoint, and what it answered.
struct WebhookLog: Sendable {
    let store: any Store

    /// The newest first; `?state=` pending, leased, delivered or dead, `?limit=`, `?before=` the `next` of the page before.
    func list(_ text: String, _ query: String?, app: AppPolicy) async -> HTTPResponse {
        guard let id = WebhookEndpointID(text) else { return Problem.notFound("webhook") }
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["state", "limit", "before"])
            var state: DeliveryState?
            if let word = fields["state"] {
                state = DeliveryState.allCases.first { $0.word == word }
                if state == nil { throw QueryFields.Fault(detail: "state is pending, leased, delivered or dead.") }
            }
            let before = try fields.whole("before", 1...Int64.max).map(EventCursor.init(position:))
            return await list(id, state, before, try fields.limit(WebhookDeliveryPage.limitMax), app: app)
        } catch {
            return error.response
        }
    }

    private func list(
        _ id: WebhookEndpointID,
        _ state: DeliveryState?,
        _ before: EventCursor?,
        _ limit: Int,
        app: AppPolicy
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) -> WebhookDeliveryPage? in
                guard try reader.endpoint(id).map(app.shows) == true else { return nil }
                return try reader.deliveries(endpoint: id, state: state, before: before, limit: limit)
            }
            guard let page else { return Problem.notFound("webhook") }
            return .json(.ok) { json in
                json.array("deliveries") { json in
                    for delivery in page.deliveries { json.object { WebhookLog.write(delivery, into: &$0) } }
                }
                json.member("next", page.next?.position)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// One event's delivery with its last attempts.
    func get(_ text: String, _ event: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = WebhookEndpointID(text), let event = EventID(event) else {
            return Problem.notFound("delivery")
        }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) -> (WebhookDelivery, [WebhookAttempt])? in
                let name = WebhookDeliveryID(endpoint: id, event: event)
                guard try reader.endpoint(id).map(app.shows) == true, let delivery = try reader.delivery(name) else {
                    return nil
                }
                return (delivery, try reader.attempts(of: name, limit: WebhookAttempt.listedMax))
            }
            guard let (delivery, attempts) = found else { return Problem.notFound("delivery") }
            return .json(.ok) { json in
                WebhookLog.write(delivery, into: &json)
                json.array("attempts") { json in
                    for attempt in attempts { json.object { WebhookLog.write(attempt, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ delivery: WebhookDelivery, into json: inout JSONObjectWriter) {
        json.member("event_id", delivery.id.event.text)
        json.member("state", delivery.state.word)
        json.member("attempt_count", delivery.attempts)
        json.member("last_status", delivery.lastStatus)
        json.member("dead_reason", delivery.deadReason)
        if delivery.endedAt == nil { json.member("due_at", delivery.dueAt) }
        json.member("ended_at", delivery.endedAt)
    }

    private static func write(_ attempt: WebhookAttempt, into json: inout JSONObjectWriter) {
        json.member("number", attempt.number)
        json.member("began_at", attempt.beganAt)
        json.member("milliseconds", attempt.milliseconds)
        json.member("status", attempt.status)
        json.member("failure", attempt.failure)
        json.member("address", attempt.address)
        // Whatever it was, as text: broken UTF-8 shows as such.
        json.member("answer", String(decoding: attempt.answer, as: UTF8.self))
    }
}

extension DeliveryState {
    /// Stable words of the API.
    fileprivate var word: String {
        switch self {
        case .pending: "pending"
        case .leased: "leased"
        case .delivered: "delivered"
        case .dead: "dead"
        }
    }
}
