import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/events`: everything that webhooks would tell, for who would rather ask.
struct EventFeed: Sendable {
    let store: any Store

    func respond(_ query: String?, app: AppID) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["after", "limit", "types", "environment", "test_signed"])
            let cursor = EventCursor(position: try fields.whole("after", 0...Int64.max) ?? 0)
            let types = fields["types"].map { text in
                Set(text.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) })
            }
            let filter = EventFilter(types: types, realms: try fields.realms())
            return await respond(after: cursor, filter, try fields.limit(EventPage.limitMax), app: app)
        } catch {
            return error.response
        }
    }

    private func respond(
        after cursor: EventCursor,
        _ filter: EventFilter,
        _ limit: Int,
        app: AppID
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: cursor, where: filter, limit: limit)
            }
            return .json(.ok) { json in
                json.array("events") { json in
                    for placed in page.events {
                        json.object { json in
                            json.member("cursor", placed.cursor.position)
                            // The message as it is sent, byte for byte.
                            json.member("event", try? JSONDocument(WebhookBody.bytes(of: placed.event)).root)
                        }
                    }
                }
                json.member("next", page.next.position)
                json.member("has_more", page.hasMore)
            }
        } catch .unstorable {
            return QueryFields.Fault(detail: "types are at most \(EventFilter.typesMax) words.").response
        } catch {
            return Problem.store(error)
        }
    }
}
