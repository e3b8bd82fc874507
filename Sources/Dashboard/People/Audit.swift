import Encoding
import HTTP
import Storage

/// The log of what people did here, and what API keys did that changes who may do what.
struct Audit: Sendable {
    private static let rows = 100
    /// Of a link, in a row.
    private static let digitsShown = 12

    let store: any Store

    private static func who(_ action: AdminAction) -> String {
        action.admin?.text ?? action.key.map { "key \($0)" } ?? "nobody"
    }

    /// Such as `12 0123456789ab`; empty where a row stands outside of the chain.
    private static func link(_ row: AuditRow) -> String {
        guard let number = row.number, let link = row.link else { return "" }
        return "\(number) \(Hexadecimal.encode(link).prefix(digitsShown))"
    }

    @HTMLBuilder private static func ends(_ head: AuditLink?) -> HTML {
        if let head {
            element("p") {
                "The chain ends at link \(head.number). Note it elsewhere: it shows later that nothing before it was changed."
            }
            element("pre", .word("tabindex", "0")) { "\(head.number):\(Hexadecimal.encode(head.digest))" }
        }
    }

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let place = Int64(visit.fields["before"])
        let (page, head) = try await store.read { reader throws(StoreFailure) in
            (try reader.adminActions(before: place, limit: Self.rows), try reader.auditHead())
        }
        return Page("Audit log", place: Address("/audit"), visit: visit) {
            Table("What was done, the newest first", ["When", "Who", "From", "What", "To whom", "More", "Link"]) {
                for row in page.rows {
                    let action = row.action
                    element("tr") {
                        element("td") { Texts.moment(action.at) }
                        element("td") { element("bdi") { Audit.who(action) } }
                        element("td") { action.remote }
                        element("td") { action.action }
                        element("td") { element("bdi") { action.subject ?? "" } }
                        element("td") { element("bdi") { action.detail ?? "" } }
                        element("td") { Audit.link(row) }
                    }
                }
            }.html
            if let next = page.next {
                element("p") {
                    element("a", .href(Address("/audit", [(name: "before", value: String(next))]))) { "Older" }
                }
            }
            Audit.ends(head)
        }.response()
    }
}
