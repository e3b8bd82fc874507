import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/app`: what is configured for the key's app, and how it stands.
struct ReadApp: Sendable {
    let store: any Store
    /// Those that have a key of App Store Connect.
    let askable: Set<AppID>
    let clock: any WallClock

    private struct Found: Sendable {
        let pending: Int
        let endpoints: [WebhookEndpoint]
        let keys: Int
        let watches: [NotificationWatch]
        let events: EventCursor
    }

    func respond(_ app: AppPolicy) async -> HTTPResponse {
        let now = clock.now
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                Found(
                    pending: try reader.pendingLoad(app: app.id).submissions,
                    endpoints: try reader.endpoints(app: app.id),
                    keys: try reader.apiKeys(app: app.id, at: now).count { $0.isInForce(at: now) },
                    watches: try reader.notificationWatches(app: app.id).filter { app.shows($0.realm) },
                    events: try reader.lastEvent(app: app.id)
                )
            }
            return answer(app, found)
        } catch {
            return Problem.store(error)
        }
    }

    private func answer(_ app: AppPolicy, _ found: Found) -> HTTPResponse {
        .json(.ok) { json in
            json.member("app_id", app.id.text)
            json.member("bundle_id", app.bundleID.text)
            json.member("apple_id", app.appleID)
            json.array("environments") { json in
                for environment in app.environments.map(\.rawValue).sorted() { json.element(environment) }
            }
            json.member("accepts_test_signed", app.acceptsTestSigned)
            // Without a catalogue every product of the app is taken.
            json.member("products", app.terms.products?.count)
            json.member("needs_orders", app.terms.needsOrder)
            json.member("binding", app.terms.binding.rawValue)
            json.member("history_at_first_proof", app.readsHistory)
            json.member("has_app_store_key", askable.contains(app.id))
            json.member("submissions_waiting", found.pending)
            json.member("last_event", found.events.position)
            json.object("webhooks") { json in
                json.member("enabled", found.endpoints.count(where: \.isEnabled))
                json.member("disabled", found.endpoints.count { !$0.isEnabled })
            }
            json.member("keys_in_force", found.keys)
            json.array("notifications_compared") { json in
                for watch in found.watches {
                    json.object { json in
                        json.member("environment", watch.realm.environment.rawValue)
                        if watch.realm.isTestSigned { json.member("test_signed", true) }
                        json.member("until", watch.comparedUntil)
                        json.member("recovered", watch.recovered)
                    }
                }
            }
        }
    }
}
