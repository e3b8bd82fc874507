import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/notifications`: what Apple sent, the newest first.
struct ReadNotifications: Sendable {
    let store: any Store

    /// `GET /v1/notifications/{id}`, with the bytes as they came, but for the app's shared secret.
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let (name, realm) = SidedName.read(text.utf8), let id = NotificationID(name), app.shows(realm) else {
            return Problem.notFound("notification")
        }
        do throws(StoreFailure) {
            let key = NotificationKey(app: app.id, realm: realm, id: id)
            let found = try await store.read { reader throws(StoreFailure) in try reader.notification(key) }
            guard let found else { return Problem.notFound("notification") }
            let payload = ShownBytes.of(found).map { Base64.encode($0, .standard, isPadded: true) }
            return .json(.ok) { json in
                Self.write(found, into: &json)
                if let payload { json.member("payload", String(decoding: payload, as: UTF8.self)) }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/notifications/figures`: what Apple says to have sent, and what of it arrived.
    func figures(app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let watches = try await store.read { reader throws(StoreFailure) in
                try reader.notificationWatches(app: app.id).filter { app.shows($0.realm) }
            }
            return .json(.ok) { json in
                json.array("stores") { json in
                    for watch in watches { json.object { Self.write(watch, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ watch: NotificationWatch, into json: inout JSONObjectWriter) {
        json.member("environment", watch.realm.environment.rawValue)
        json.member("test_signed", watch.realm.isTestSigned)
        json.member("compared_until", watch.comparedUntil)
        json.member("sent", watch.sent)
        json.member("arrived", watch.arrived)
        json.member("recovered", watch.recovered)
    }

    /// `GET /v1/notifications`
    func list(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let names: Set = ["type", "original_transaction_id", "environment", "test_signed", "after", "limit"]
            let fields = try QueryFields(query, names: names)
            let filter = NotificationFilter(
                type: try fields.word("type"),
                original: try fields.whole("original_transaction_id", 0...Int64.max).flatMap {
                    TransactionID(number: $0)
                },
                realms: try fields.realms().filter(app.shows)
            )
            return await list(before: try fields.place(), filter, try fields.limit(NotificationPage.limitMax), app: app)
        } catch {
            return error.response
        }
    }

    private func list(
        before place: NotificationCursor?,
        _ filter: NotificationFilter,
        _ limit: Int,
        app: AppPolicy
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.notifications(app: app.id, before: place, where: filter, limit: limit)
            }
            return .json(.ok) { json in
                json.array("notifications") { json in
                    for notification in page.notifications { json.object { Self.write(notification, into: &$0) } }
                }
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ notification: KeptNotification, into json: inout JSONObjectWriter) {
        let key = notification.key
        json.member("id", SidedName.text(key.id.text, key.realm))
        json.member("notification_uuid", notification.version == 1 ? nil : key.id.text)
        json.member("version", notification.version)
        json.member("type", notification.type)
        json.member("subtype", notification.subtype)
        json.member("environment", key.realm.environment.rawValue)
        json.member("test_signed", key.realm.isTestSigned)
        json.member("original_transaction_id", notification.original?.description)
        json.member("transaction_id", notification.transaction?.description)
        json.member("arrival", notification.arrival == .pushed ? "pushed" : "fetched")
        json.member("signed_at", notification.signedAt)
        json.member("received_at", notification.receivedAt)
    }
}
