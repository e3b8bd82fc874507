import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/events`: everything that webhooks would tell, for who would rather ask.
struct EventFeed: Sendable {
    let store: any Store
    /// `nil` where nothing is streamed.
    let stream: EventStream?

    func respond(
        to request: HTTPRequest,
        app: AppPolicy,
        while isInForce: @escaping @Sendable () -> Bool
    ) async -> HTTPResponse {
        if let stream, EventStream.isWanted(request.fields) {
            return stream.respond(to: request, app: app, while: isInForce)
        }
        do throws(QueryFields.Fault) {
            return await respond(try EventQuery(request.query, of: app, isStream: false), app: app)
        } catch {
            return error.response
        }
    }

    private func respond(_ query: EventQuery, app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.events(app: app.id, after: query.cursor, where: query.filter, limit: query.limit)
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
        } catch {
            return Problem.store(error)
        }
    }
}

/// Which events are asked for.
struct EventQuery: Sendable {
    let cursor: EventCursor
    let filter: EventFilter
    let limit: Int

    /// - Parameters:
    ///   - query: as it was sent.
    ///   - app: with what the key may know.
    ///   - isStream: of a stream nobody says how long its pieces are.
    /// - Throws: a fault that the client is told of.
    init(_ query: String?, of app: AppPolicy, isStream: Bool) throws(QueryFields.Fault) {
        let names: Set = ["after", "types", "environment", "test_signed"]
        let fields = try QueryFields(query, names: isStream ? names : names.union(["limit"]))
        cursor = EventCursor(position: try fields.whole("after", 0...Int64.max) ?? 0)
        limit = try fields.limit(EventPage.limitMax)
        let types = fields["types"].map { text in
            let words = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            return Set(words.map { String(decoding: $0, as: UTF8.self) })
        }
        filter = EventFilter(types: types, realms: try fields.realms().filter(app.shows))
        let known = Set(EventType.allCases.map(\.rawValue))
        guard types.map({ !$0.isEmpty && $0.isSubset(of: known) }) ?? true, filter.isStorable else {
            throw QueryFields.Fault(
                detail: "types are 1 to \(EventFilter.typesMax) of the catalogue of events, with commas between them."
            )
        }
    }
}
