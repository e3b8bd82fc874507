import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Each app as it is configured, and how Apple and it reach each other.
struct AppsPage: Sendable {
    private static let shown = 20

    let parts: DashboardParts

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let after = AppID(visit.fields["after"])
        let policies = parts.policies
        let start = after.flatMap { app in policies.firstIndex { $0.id == app } }.map { $0 + 1 } ?? 0
        let page = Array(policies.dropFirst(start).prefix(Self.shown))
        let last = try await parts.store.read { reader throws(StoreFailure) -> [Timestamp?] in
            try page.map { policy throws(StoreFailure) in
                let filter = NotificationFilter(realms: Set(Realm.known))
                return try reader.notifications(app: policy.id, before: nil, where: filter, limit: 1)
                    .notifications.first?.receivedAt
            }
        }
        return Page("Apps", place: Address("/apps"), visit: visit) {
            for (policy, notified) in zip(page, last) { section(policy, notified, visit) }
            if let end = page.last, start + page.count < policies.count {
                element("p") {
                    element("a", .href(Address("/apps", [(name: "after", value: end.id.text)]))) { "More" }
                }
            }
        }.response()
    }

    @HTMLBuilder private func section(_ policy: AppPolicy, _ notified: Timestamp?, _ visit: Visit) -> HTML {
        element("h2") { element("bdi") { policy.id.text } }
        loud(policy, at: visit.now)
        element("dl", .class("facts")) {
            Texts.fact("Bundle id", policy.bundleID.text)
            Texts.fact("Apple id", policy.appleID.map { String($0) } ?? "not given")
            Texts.fact("Stores", policy.environments.map(\.rawValue).sorted().joined(separator: ", "))
            Texts.fact("Test-signed purchases", policy.acceptsTestSigned ? "recorded, apart from Apple's" : "refused")
            Texts.fact("Sandbox purchases", Self.sandbox(policy.terms.sandbox, at: visit.now))
            Texts.fact("Products", policy.terms.products.map { Texts.count($0.count) } ?? "any")
            Texts.fact("Gives only for an order", policy.terms.needsOrder ? "yes" : "no")
            Texts.fact("What is another's", policy.terms.binding.rawValue)
            Texts.fact("A balance below zero", policy.terms.allowsNegativeBalance ? "after a refund" : "never")
            apple(policy, visit)
            Texts.fact("Last notification", notified)
            if notified == nil { Texts.fact("Last notification", "none yet") }
        }
    }

    /// What must not be forgotten.
    @HTMLBuilder private func loud(_ policy: AppPolicy, at now: Timestamp) -> HTML {
        if case .everybody(let end) = policy.terms.sandbox, now < end {
            element("p", .class("fault")) {
                element("strong") { "Review mode: " }
                "what the sandbox sells is delivered to everybody, and nobody pays for it, until "
                Texts.moment(end)
                "."
            }
        }
        if policy.acceptsTestSigned {
            element("p", .class("fault")) {
                "Purchases that only a test root vouches for are recorded: this is no server for customers."
            }
        }
    }

    @HTMLBuilder private func apple(_ policy: AppPolicy, _ visit: Visit) -> HTML {
        if let door = parts.server.doors[policy.id] {
            Texts.fact("Key of the Server API", door.hasKey ? "there" : "missing")
            Texts.fact("Shared secret", door.hasSharedSecret ? "there" : "none")
            if door.isSimulated { Texts.fact("Apple", "another host stands in its place") }
            Texts.fact(
                "Notifications come to",
                visit.may(.operator) ? door.notificationPath : "a path that operators see"
            )
        }
        if let contact = parts.server.contacts.last(of: policy.bundleID) {
            element("dt") { "Apple was last asked" }
            element("dd") {
                Texts.moment(contact.at)
                ", \(contact.endpoint), \(contact.store.rawValue): "
                contact.status.map { "answered \($0)" } ?? "no good answer"
            }
        } else {
            Texts.fact("Apple was last asked", "not since this server was started")
        }
    }

    private static func sandbox(_ rule: SandboxRule, at now: Timestamp) -> String {
        switch rule {
        case .recordOnly: "recorded, and delivered to nobody"
        case .customers(let customers): "delivered to \(customers.count) customers by name"
        case .everybody(let end): now < end ? "delivered to everybody" : "delivered to nobody: review mode has ended"
        }
    }
}
