package import HTTP
import Storage

/// The table of all pages and forms: read this first.
package func dashboardRoutes(_ parts: DashboardParts) -> [DashboardRoute] {
    let sessions = Sessions(store: parts.store, clock: parts.clock)
    let door = Door(sessions: sessions, clock: parts.clock, isDemo: parts.server.simulator != nil)
    return ledger(door, parts) + actions(door, parts) + webhooks(door, parts) + configured(door, parts)
        + simulator(door, parts) + access(door, parts, sessions) + assets(door)
}

/// What is answered below the dashboard's path where no route takes a request: a page, the same for everybody.
///
/// - Parameters:
///   - response: the router's own answer.
///   - request: what nobody took.
/// - Returns: the page under the same status; `nil` for what lies elsewhere.
package func dashboardRefusal(_ response: HTTPResponse, of request: HTTPRequest) -> HTTPResponse? {
    Address.isBelowRoot(request.path) ? Notices.untaken(response) : nil
}

private func ledger(_ door: Door, _ parts: DashboardParts) -> [DashboardRoute] {
    let overview = Overview(parts: parts)
    let triage = Triage(parts: parts)
    let notifications = NotificationPages(parts: parts)
    let operations = Operations(store: parts.store)
    let search = Search(parts: parts)
    let customer = CustomerPage(parts: parts)
    let transaction = TransactionPages(parts: parts)
    return [
        door.page("", .viewer, overview.show),
        door.page("/revenue", .viewer, RevenuePage(parts: parts).show),
        door.page("/subscriptions", .viewer, SubscriptionPages(parts: parts).show),
        door.page("/orders", .viewer, OrdersPage(parts: parts).show),
        door.page("/triage", .viewer, triage.show),
        door.page("/notifications", .viewer, notifications.list),
        door.page("/notification", .viewer, OneNotification(parts: parts).show),
        door.form("/notification/decide", .operator, OneNotification(parts: parts).decide),
        door.page("/operations", .viewer, operations.show),
        door.page("/sample", .viewer, triage.sample),
        door.page("/search", .viewer, search.find),
        door.page("/customer", .viewer, customer.show),
        door.page("/transaction", .viewer, transaction.show),
        door.page("/order", .viewer, OrderView(parts: parts).show),
        door.page("/submission", .viewer, transaction.submission),
        door.form("/proof", .operator, ProofDownload(parts: parts).send),
    ]
}

private func webhooks(_ door: Door, _ parts: DashboardParts) -> [DashboardRoute] {
    let actions = WebhookActions(parts: parts)
    return [
        door.page("/webhooks", .viewer, WebhookPages(parts: parts).list),
        door.page("/webhook", .viewer, EndpointPage(parts: parts).show),
        door.page("/delivery", .viewer, DeliveryPage(parts: parts).show),
        door.form("/webhook/test", .operator, actions.test),
        door.form("/webhook/enable", .operator, actions.enable),
        door.form("/webhook/rotate", .operator, actions.rotate),
        door.form("/webhook/replay", .operator, actions.replay),
        door.form("/webhook/missed", .operator, actions.putMissedAside),
    ]
}

/// What the configuration says, and who may call.
private func configured(_ door: Door, _ parts: DashboardParts) -> [DashboardRoute] {
    let keys = KeyPages(parts: parts)
    let actions = KeyActions(parts: parts)
    return [
        door.page("/catalogue", .viewer, CataloguePage(parts: parts).show),
        door.page("/apps", .viewer, AppsPage(parts: parts).show),
        door.page("/keys", .viewer, keys.list),
        door.page("/key", .viewer, keys.show),
        door.form("/keys/make", .admin, actions.make),
        door.form("/key/rotate", .admin, actions.rotate),
        door.form("/key/revoke", .admin, actions.revoke),
    ]
}

/// Nothing at all but in a demo.
private func simulator(_ door: Door, _ parts: DashboardParts) -> [DashboardRoute] {
    guard let line = parts.server.simulator else { return [] }
    let page = SimulatorPage(parts: parts, line: line)
    let actions = SimulatorActions(parts: parts, line: line)
    return [
        door.page("/simulator", .viewer) { visit in await page.show(visit) },
        door.form("/simulator/act", .operator, actions.act),
        door.form("/simulator/clock", .operator, actions.clock),
        door.form("/simulator/chaos", .operator, actions.chaos),
    ]
}

/// What operators do.
private func actions(_ door: Door, _ parts: DashboardParts) -> [DashboardRoute] {
    let desk = ActionDesk(parts: parts)
    func action<Action: OperatorAction>(_ kind: Action.Type) -> [DashboardRoute] {
        [
            door.page(Action.path, .operator) { visit throws(StoreFailure) in try await desk.show(visit, kind) },
            door.form(Action.path, .operator) { visit throws(StoreFailure) in try await desk.send(visit, kind) },
        ]
    }
    return action(AttachAction.self) + action(TransferAction.self) + action(AcknowledgeAction.self)
        + action(CancelAction.self) + action(AdjustAction.self) + action(ResyncAction.self)
        + action(ResyncProofAction.self) + action(ReplayAction.self) + action(GrantAction.self)
        + action(RevokeAction.self)
}

private func access(_ door: Door, _ parts: DashboardParts, _ sessions: Sessions) -> [DashboardRoute] {
    let signIn = SignIn(parts: parts, sessions: sessions)
    let accounts = Accounts(parts: parts)
    let audit = Audit(store: parts.store)
    return [
        door.open(.get, "/sign-in", signIn.show),
        door.open(.post, "/sign-in", signIn.send),
        door.open(.get, "/first-account", signIn.showFirst),
        door.open(.post, "/first-account", signIn.sendFirst),
        door.form("/sign-out", .viewer, signIn.out),
        door.page("/account", .viewer, accounts.own),
        door.form("/account/password", .viewer, accounts.changePassword),
        door.page("/accounts", .admin, accounts.list),
        door.form("/accounts/make", .admin, accounts.make),
        door.form("/accounts/change", .admin, accounts.change),
        door.page("/audit", .admin, audit.list),
    ]
}

private func assets(_ door: Door) -> [DashboardRoute] {
    func asset(_ path: StaticString, _ type: String, _ bytes: [UInt8]) -> DashboardRoute {
        door.open(.get, path) { _ in
            var fields = Page.fields(type)
            fields["Cache-Control"] = "public, max-age=3600"
            return HTTPResponse(.ok, fields: fields, body: bytes)
        }
    }
    return [
        asset("/assets/style.css", "text/css; charset=utf-8", PackageResources.style_css),
        asset("/assets/icon.svg", "image/svg+xml", PackageResources.icon_svg),
    ]
}
