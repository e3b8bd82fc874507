import HTTP
import PurchaseModel
import Storage

/// What Apple told by itself, and what it had to be asked for.
struct NotificationPages: Sendable {
    private static let rows = 50

    let parts: DashboardParts

    private struct Found: Sendable {
        let page: NotificationPage
        let watches: [NotificationWatch]
    }

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppChoice.app(visit, parts) else { return Notices.notFound("app", visit) }
        let cursor = NotificationCursor(text: visit.fields["before"])
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            let watches = try reader.notificationWatches(app: app)
            let filter = NotificationFilter(realms: Set(Realm.known))
            let page = try reader.notifications(app: app, before: cursor, where: filter, limit: Self.rows)
            return Found(page: page, watches: watches)
        }
        return Page("Notifications", place: Address("/notifications"), visit: visit) {
            AppChoice.links("/notifications", app, parts)
            watches(found.watches)
            notifications(found.page, app)
        }.response()
    }

    @HTMLBuilder private func watches(_ watches: [NotificationWatch]) -> HTML {
        if watches.isEmpty {
            element("p", .class("quiet")) {
                "What Apple says to have sent was not compared yet with what came: that needs a key of App Store Connect."
            }
        } else {
            Table("Compared with what Apple says to have sent", ["Store", "Until", "Sent", "Came", "Recovered"]) {
                for watch in watches {
                    element("tr") {
                        element("th", .word("scope", "row")) { Texts.realm(watch.realm) }
                        element("td") { Texts.moment(watch.comparedUntil) }
                        element("td") { Texts.count(Int(watch.sent)) }
                        element("td") { Texts.count(Int(watch.arrived)) }
                        element("td") { Texts.count(Int(watch.recovered)) }
                    }
                }
            }.html
        }
    }

    @HTMLBuilder private func notifications(_ page: NotificationPage, _ app: AppID) -> HTML {
        Table("Notifications, the newest first", ["Received", "After", "Type", "Transaction", "Store", "How it came"]) {
            for row in page.notifications {
                element("tr") {
                    element("td") { Texts.moment(row.receivedAt) }
                    element("td") { "\(max(row.signedAt.duration(to: row.receivedAt).components.seconds, 0)) s" }
                    element("th", .word("scope", "row")) {
                        Links.link(OneNotification.address(row.key), row.type + (row.subtype.map { " \($0)" } ?? ""))
                    }
                    element("td") {
                        if let id = row.transaction ?? row.original {
                            Links.link(Links.transaction(app, id), id.description)
                        }
                    }
                    element("td") { Texts.realm(row.key.realm) }
                    element("td") { row.arrival == .pushed ? "sent by Apple" : "fetched" }
                }
            }
        }.html
        if let next = page.next {
            let place: [(name: String, value: String?)] = [
                (name: "app", value: app.text), (name: "before", value: next.text),
            ]
            element("p") { element("a", .href(Address("/notifications", place))) { "Older" } }
        }
    }
}
