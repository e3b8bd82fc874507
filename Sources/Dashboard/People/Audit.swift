import HTTP
import Storage

/// The log of what people did here, and what API keys did that changes who may do what.
struct Audit: Sendable {
    private static let rows = 100

    let store: any Store

    private static func who(_ action: AdminAction) -> String {
        action.admin?.text ?? action.key.map { "key \($0)" } ?? "nobody"
    }

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let place = Int64(visit.fields["before"])
        let page = try await store.read { reader throws(StoreFailure) in
            try reader.adminActions(before: place, limit: Self.rows)
        }
        return Page("Audit log", place: Address("/audit"), visit: visit) {
            Table("What was done, the newest first", ["When", "Who", "From", "What", "To whom", "More"]) {
                for action in page.actions {
                    element("tr") {
                        element("td") { Texts.moment(action.at) }
                        element("td") { element("bdi") { Audit.who(action) } }
                        element("td") { action.remote }
                        element("td") { action.action }
                        element("td") { element("bdi") { action.subject ?? "" } }
                        element("td") { element("bdi") { action.detail ?? "" } }
                    }
                }
            }.html
            if let next = page.next {
                element("p") {
                    element("a", .href(Address("/audit", [(name: "before", value: String(next))]))) { "Older" }
                }
            }
        }.response()
    }
}
