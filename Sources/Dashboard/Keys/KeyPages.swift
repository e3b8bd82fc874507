import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Who may call the API, and what each key opens. Of a key the SHA-256 is known here, and no more.
struct KeyPages: Sendable {
    private static let rows = 50

    let parts: DashboardParts

    /// What stands above a page, after something was tried.
    struct Note: Sendable {
        var refusal: Refusal?
        /// A secret that nobody sees again.
        var secret: String?
    }

    // MARK: All keys of an app

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse { try await list(visit, nil) }

    func list(_ visit: Visit, _ refusal: Refusal?) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppChoice.app(visit, parts) else { return Notices.notFound("app", visit) }
        let keys = try await parts.store.read { reader throws(StoreFailure) in
            try reader.apiKeys(app: app, at: visit.now)
        }
        let start = max(0, min(Int(visit.fields["from"]) ?? 0, keys.count))
        let given = parts.server.keys.given.filter { $0.holder.app == app }
        return Page("Keys", place: Address("/keys"), visit: visit) {
            Form.fault(refusal?.sentence)
            AppChoice.links("/keys", app, parts)
            Table("Keys that were made, the newest first", Self.headings) {
                for key in keys.dropFirst(start).prefix(Self.rows) { row(key, at: visit.now) }
            }.html
            if start + Self.rows < keys.count {
                let more: [(name: String, value: String?)] = [
                    (name: "app", value: app.text), (name: "from", value: String(start + Self.rows)),
                ]
                element("p") { element("a", .href(Address("/keys", more))) { "Older" } }
            }
            configured(given)
            if visit.may(.admin) { KeyForm(visit: visit, app: app).html }
        }.response(refusal?.status ?? .ok)
    }

    private static let headings = ["Name", "Kind", "State", "May", "Stores", "Made", "Last used", "Ends"]

    private func row(_ key: APIKeyRow, at now: Timestamp) -> HTML {
        element("tr") {
            element("th", .word("scope", "row")) { Links.link(Self.address(key.id), key.name) }
            element("td") { key.kind }
            element("td") { Self.state(key, at: now) }
            element("td") { key.scopes.joined(separator: ", ") }
            element("td") { key.environments?.joined(separator: ", ") ?? "all" }
            element("td") { Texts.moment(key.createdAt) }
            element("td") { if let used = key.lastUsedAt { Texts.moment(used) } else { "never" } }
            element("td") { if let end = key.expiresAt { Texts.moment(end) } else { "never" } }
        }
    }

    static func address(_ id: APIKeyID) -> Address { Address("/key", [(name: "id", value: id.text)]) }

    private static func state(_ key: APIKeyRow, at now: Timestamp) -> String {
        if key.revokedAt != nil { return "revoked" }
        return key.isInForce(at: now) ? "in force" : "expired"
    }

    @HTMLBuilder private func configured(_ keys: [APIKey]) -> HTML {
        if !keys.isEmpty {
            Table("Keys of the configuration", ["Name", "Kind", "May", "Stores"]) {
                for key in keys.prefix(Self.rows) {
                    element("tr") {
                        element("th", .word("scope", "row")) { element("bdi") { key.holder.name } }
                        element("td") { key.kind.rawValue }
                        element("td") { key.scopes.map(\.rawValue).sorted().joined(separator: ", ") }
                        element("td") { key.environments?.map(\.rawValue).sorted().joined(separator: ", ") ?? "all" }
                    }
                }
            }.html
            if keys.count > Self.rows { element("p") { "And \(keys.count - Self.rows) more." } }
        }
    }

    // MARK: One of them

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        try await page(visit, visit.fields["id"], Note())
    }

    func page(_ visit: Visit, _ text: String, _ note: Note) async throws(StoreFailure) -> HTTPResponse {
        guard let id = APIKeyID(text) else { return Notices.notFound("key", visit) }
        let apps = parts.apps
        let found = try await parts.store.read { reader throws(StoreFailure) in
            try reader.apiKey(id).flatMap { apps.contains($0.app) ? $0 : nil }
        }
        guard let key = found else { return Notices.notFound("key", visit) }
        return Page("Key \(key.name)", place: Address("/keys"), visit: visit) {
            Form.fault(note.refusal?.sentence)
            if let secret = note.secret {
                element("p") { "The key itself. This page is the only one that shows it:" }
                element("pre", .word("tabindex", "0"), .class("secret")) { secret }
            }
            facts(key, at: visit.now)
            if visit.may(.admin), key.isInForce(at: visit.now) { forms(key, visit) }
        }.response(note.refusal?.status ?? .ok)
    }

    private func facts(_ key: APIKeyRow, at now: Timestamp) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", key.app.text)
            Texts.fact("Id", key.id.text)
            Texts.fact("State", Self.state(key, at: now))
            Texts.fact("Kind", key.kind)
            Texts.fact("Ends with", "…\(key.hint)")
            Texts.fact("May", key.scopes.joined(separator: ", "))
            Texts.fact("Stores", key.environments?.joined(separator: ", ") ?? "all of its app")
            Texts.fact("Made", key.createdAt)
            Texts.fact("Made by", key.createdBy)
            Texts.fact("Last used, to the hour", key.lastUsedAt)
            Texts.fact("Revoked", key.revokedAt)
            Texts.fact("Good until", key.expiresAt)
        }
    }

    @HTMLBuilder private func forms(_ key: APIKeyRow, _ visit: Visit) -> HTML {
        element("h2") { "A new secret" }
        visit.formOnce(Address("/key/rotate"), label: "Make a new secret") {
            Form.hidden("id", key.id.text)
            Form.hidden("version", String(key.version))
            Form.choice(
                "overlap",
                "The old one opens on for",
                [("86400", "a day"), ("3600", "an hour"), ("604800", "a week"), ("0", "no time at all")]
            )
        }
        element("h2") { "The end of it" }
        visit.formOnce(Address("/key/revoke"), label: "Revoke it now") {
            Form.hidden("id", key.id.text)
            Form.hidden("version", String(key.version))
        }
    }
}
