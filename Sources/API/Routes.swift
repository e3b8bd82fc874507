package import HTTP
package import Pipeline
package import PurchaseModel
package import Storage

/// What the API needs from the rest of the house.
package struct APIParts: Sendable {
    package var pipeline: PurchasePipeline
    package var notifications: NotificationIntake
    /// What stands in the path that Apple sends an app's notifications to; without one, the app's id.
    package var notificationTokens: [AppID: String]
    /// Where the jobs are put that answer what Apple asks.
    package var consumption: ConsumptionQueue
    /// Where the jobs are put that ask Apple what people want to know.
    package var support: SupportQueue
    /// Those that have a key to sign with.
    package var signing: [AppID: MerchantDesk]
    package var store: any Store
    package var apps: [AppPolicy]
    package var keys: KeyRing
    /// For whom a publishable key speaks.
    package var customers: CustomerToken
    package var clock: any WallClock
    /// Requests a second for each key; 0 for no limit.
    package var requestsPerSecond: Int
    /// Where webhooks may go.
    package var egress: EgressRule
    /// Sends a test message; `nil` where nothing is sent.
    package var sender: WebhookSender?
    /// The feeds as they grow; `nil` where nothing is streamed.
    package var feed: LiveFeed?
    /// Lets a while pass; false when nobody is to wait any more, as always where none is given.
    package var pause: @Sendable (Duration) async -> Bool
    /// Signs answers for who wishes it; `nil` where nothing is signed.
    package var signer: AnswerSigner?
    /// Hears of every answer that says that the fault is ours.
    package var failed: @Sendable (FailedRequest) -> Void
    /// The metrics in Prometheus' text format.
    package var metrics: @Sendable () -> String

    package init(
        pipeline: PurchasePipeline,
        notifications: NotificationIntake,
        notificationTokens: [AppID: String] = [:],
        consumption: ConsumptionQueue = .none,
        support: SupportQueue = .none,
        signing: [AppID: MerchantDesk] = [:],
        store: any Store,
        apps: [AppPolicy],
        keys: KeyRing,
        customers: CustomerToken = CustomerToken([:]),
        clock: any WallClock,
        requestsPerSecond: Int = 0,
        egress: EgressRule = EgressRule(),
        sender: WebhookSender? = nil,
        feed: LiveFeed? = nil,
        pause: @escaping @Sendable (Duration) async -> Bool = { _ in false },
        signer: AnswerSigner? = nil,
        failed: @escaping @Sendable (FailedRequest) -> Void = { _ in },
        metrics: @escaping @Sendable () -> String
    ) {
        self.pipeline = pipeline
        self.notifications = notifications
        self.notificationTokens = notificationTokens
        self.consumption = consumption
        self.support = support
        self.signing = signing
        self.store = store
        self.apps = apps
        self.keys = keys
        self.customers = customers
        self.clock = clock
        self.requestsPerSecond = requestsPerSecond
        self.egress = egress
        self.sender = sender
        self.feed = feed
        self.pause = pause
        self.signer = signer
        self.failed = failed
        self.metrics = metrics
    }
}

/// The table of everything that is answered: read this first.
package func routes(_ parts: APIParts) -> Router {
    let gate = Gate(
        keys: parts.keys,
        customers: parts.customers,
        apps: parts.apps,
        rate: RateLimit(perSecond: parts.requestsPerSecond, clock: parts.clock),
        store: parts.store,
        clock: parts.clock,
        changed: { parts.feed?.wake() }
    )
    let waits = SubmissionWait(store: parts.store, pause: parts.pause)
    let routes =
        purchases(gate, parts, waits) + facades(gate, parts, waits) + orders(gate, parts) + customers(gate, parts)
        + notifications(gate, parts)
        + consumption(gate, parts) + support(gate, parts) + signatures(gate, parts)
        + webhooks(gate, parts) + figures(gate, parts) + keys(gate, parts) + operating(gate, parts)
        + health(gate, parts)
    return Router(routes.map { named($0, parts) }) { response, request in
        finished(response, to: parts.signer?.question(of: request), RequestName(request.fields), parts)
    }
}

/// What every answer has: the name of its request, and a signature for who wishes one.
private func finished(
    _ response: HTTPResponse,
    to question: AnswerSigner.Question?,
    _ name: RequestName,
    _ parts: APIParts
) -> HTTPResponse {
    var response = response
    response.fields[RequestName.field] = name.request
    guard let question else { return response }
    return parts.signer?.sign(response, to: question, at: parts.clock.now) ?? response
}

/// The route with that in its answers; what failed by our fault is told.
private func named(_ route: Route, _ parts: APIParts) -> Route {
    Route(route.method, route.template) { request, path in
        let (name, question) = (RequestName(request.fields), parts.signer?.question(of: request))
        let response = await route.respond(request, path)
        if response.status.rawValue >= 500 {
            let (method, template) = (route.method, route.template)
            parts.failed(FailedRequest(name: name, method: method, template: template, status: response.status))
        }
        return finished(response, to: question, name, parts)
    }
}

private func purchases(_ gate: Gate, _ parts: APIParts, _ waits: SubmissionWait) -> [Route] {
    let submit = SubmitPurchase(
        pipeline: parts.pipeline,
        store: parts.store,
        clock: parts.clock,
        mayAct: gate.mayAct
    )
    let transactions = ReadTransactions(store: parts.store)
    let submissions = ReadSubmission(waits: waits, mayAct: gate.mayAct)
    let deliveries = Deliveries(store: parts.store)
    return [
        gate.submission(.post, "/v1/purchases") { request, caller, _ in
            await submit.respond(to: request, from: caller)
        },
        gate.route(.get, "/v1/purchases/waiting", for: .read, readsQuery: true) { request, app, _ in
            await deliveries.waiting(request.query, app: app)
        },
        gate.submission(.get, "/v1/submissions/{id}", readsQuery: true) { request, caller, path in
            await submissions.respond(to: path["id"] ?? "", query: request.query, from: caller)
        },
        gate.route(.get, "/v1/transactions/{id}", for: .read) { _, app, path in
            await transactions.transaction(path["id"] ?? "", app: app)
        },
        gate.customer("/v1/customers/{id}/transactions", readsQuery: true) { request, app, path in
            await transactions.transactions(of: path["id"] ?? "", query: request.query, app: app)
        },
        gate.route(.get, "/v1/deliveries/{id}", for: .read) { _, app, path in
            await deliveries.get(path["id"] ?? "", app: app)
        },
        gate.change("/v1/deliveries/{id}/ack", for: .write, Deliveries.acknowledge),
    ]
}

/// What other people's clients ask, in their own words.
private func facades(_ gate: Gate, _ parts: APIParts, _ waits: SubmissionWait) -> [Route] {
    let proofs = PresentProof(pipeline: parts.pipeline, waits: waits)
    let validator = Validator(gate: gate, proofs: proofs, clock: parts.clock)
    let receipts = VerifyReceipt(gate: gate, proofs: proofs, clock: parts.clock)
    return receipts.routes("/verifyReceipt", .production) + receipts.routes("/sandbox/verifyReceipt", .sandbox)
        + validator.routes("/validator") + validator.routes("/validator/{key}")
}

private func orders(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let orders = Orders(store: parts.store)
    return [
        gate.change("/v1/orders", for: .write, Orders.place),
        gate.route(.get, "/v1/orders", for: .read, readsQuery: true) { request, app, _ in
            await orders.list(request.query, app: app)
        },
        gate.route(.get, "/v1/orders/{id}", for: .read) { _, app, path in
            await orders.get(path["id"] ?? "", app: app)
        },
        gate.change("/v1/orders/{id}/cancel", for: .write, Orders.cancel),
        gate.change("/v1/orders/{id}/attach", for: .write, Orders.attach),
    ]
}

private func customers(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let customers = Customers(store: parts.store, clock: parts.clock)
    let granted = GrantedEntitlements(store: parts.store)
    let subscriptions = Subscriptions(store: parts.store, clock: parts.clock)
    return [
        gate.customer("/v1/customers/{id}/subscriptions") { _, app, path in
            await subscriptions.subscriptions(of: path["id"] ?? "", app: app)
        },
        gate.route(.get, "/v1/subscriptions/{id}", for: .read) { _, app, path in
            await subscriptions.subscription(path["id"] ?? "", app: app)
        },
        gate.customer("/v1/customers/{id}/entitlements") { request, app, path in
            await customers.entitlements(of: path["id"] ?? "", request, app: app)
        },
        gate.route(.get, "/v1/catalogue", for: .customer) { request, app, _ in
            EntityTag.conditional(Catalogue.list(app), request)
        },
        gate.customer("/v1/customers/{id}/balances") { _, app, path in
            await customers.balances(of: path["id"] ?? "", app: app)
        },
        gate.customer("/v1/customers/{id}/balances/{currency}/postings", readsQuery: true) { request, app, path in
            await customers.postings(of: path, request.query, app: app)
        },
        gate.change("/v1/customers/{id}/balances/{currency}/use", for: .write, Customers.use),
        gate.change("/v1/customers/{id}/balances/{currency}/adjust", for: .write, Customers.adjust),
        gate.route(.get, "/v1/customers/{id}/granted-entitlements", for: .read) { _, app, path in
            await granted.list(path["id"] ?? "", app: app)
        },
        gate.change(
            "/v1/customers/{id}/granted-entitlements/{entitlement}/grant",
            for: .write,
            GrantedEntitlements.grant
        ),
        gate.change(
            "/v1/customers/{id}/granted-entitlements/{entitlement}/revoke",
            for: .write,
            GrantedEntitlements.revoke
        ),
        gate.change("/v1/transfers", for: .write, Transfers.transfer),
    ]
}

private func notifications(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let receive = ReceiveNotification(intake: parts.notifications, apps: parts.apps, tokens: parts.notificationTokens)
    let read = ReadNotifications(store: parts.store)
    return [
        Route(.post, "/v1/apple/notifications/{token}") { request, path in
            await receive.respond(to: request, token: path["token"] ?? "")
        },
        gate.route(.get, "/v1/notifications", for: .read, readsQuery: true) { request, app, _ in
            await read.list(request.query, app: app)
        },
        gate.route(.get, "/v1/notifications/figures", for: .read) { _, app, _ in await read.figures(app: app) },
        gate.route(.get, "/v1/notifications/{id}", for: .read) { _, app, path in
            await read.get(path["id"] ?? "", app: app)
        },
    ]
}

private func consumption(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let requests = Consumption(store: parts.store, clock: parts.clock, queue: parts.consumption)
    let consents = Consents(store: parts.store)
    return [
        gate.route(.get, "/v1/consumption-requests", for: .read, readsQuery: true) { request, app, _ in
            await requests.list(request.query, app: app)
        },
        gate.route(.get, "/v1/consumption-requests/{id}", for: .read) { _, app, path in
            await requests.get(path["id"] ?? "", app: app)
        },
        gate.change("/v1/consumption-requests/{id}/answer", for: .write, requests.answer),
        gate.change("/v1/consumption-requests/{id}/decline", for: .write, Consumption.decline),
        gate.route(.get, "/v1/customers/{id}/consent", for: .read) { _, app, path in
            await consents.get(path["id"] ?? "", app: app)
        },
        gate.change("/v1/customers/{id}/consent", for: .write, Consents.note),
    ]
}

private func support(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let apple = AppleSupport(store: parts.store, queue: parts.support, apps: Set(parts.signing.keys))
    let asking = [
        gate.change("/v1/apple/orders/{id}/lookup", for: .write, apple.lookUp),
        gate.change("/v1/apple/subscriptions/extend", for: .write, apple.extendAll),
        gate.change("/v1/apple/subscriptions/{id}/extend", for: .write, apple.extend),
        gate.change("/v1/apple/transactions/{id}/account-token", for: .write, apple.setToken),
        gate.change("/v1/apple/customers/{id}/account-token", for: .write, apple.setTokens),
    ]
    return asking.map(AppleSupport.locating) + [
        gate.route(.get, "/v1/apple/requests", for: .read, readsQuery: true) { request, app, _ in
            await apple.list(request.query, app: app)
        },
        gate.route(.get, "/v1/apple/requests/{id}", for: .read) { _, app, path in
            await apple.get(path["id"] ?? "", app: app)
        },
    ]
}

private func signatures(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let signatures = Signatures(desks: parts.signing, clock: parts.clock)
    return [
        gate.route(.post, "/v1/signatures/promotional-offer", for: .sign) { request, app, _ in
            signatures.promotionalOffer(request, app: app.id)
        },
        gate.route(.post, "/v1/signatures/introductory-offer", for: .sign) { request, app, _ in
            signatures.introductoryOffer(request, app: app.id)
        },
        gate.route(.post, "/v1/signatures/advanced-commerce", for: .sign) { request, app, _ in
            signatures.advancedCommerce(request, app: app.id)
        },
        gate.route(.post, "/v1/signatures/explain", for: .sign) { request, app, _ in
            signatures.explain(request, app: app.id)
        },
    ]
}

private func webhooks(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let webhooks = Webhooks(store: parts.store, clock: parts.clock, rule: parts.egress, sender: parts.sender)
    let log = WebhookLog(store: parts.store)
    let feed = EventFeed(store: parts.store, stream: parts.feed.map { EventStream(feed: $0) })
    return [
        gate.stream("/v1/events", for: .read) { request, app, isInForce in
            await feed.respond(to: request, app: app, while: isInForce)
        },
        gate.changeOnce("/v1/webhooks", for: .webhooks, webhooks.create),
        gate.route(.get, "/v1/webhooks", for: .read) { _, app, _ in await webhooks.list(app: app) },
        gate.route(.get, "/v1/webhooks/{id}", for: .read) { _, app, path in
            await webhooks.get(path["id"] ?? "", app: app)
        },
        gate.change("/v1/webhooks/{id}", for: .webhooks, webhooks.update),
        gate.changeOnce("/v1/webhooks/{id}/rotate", for: .webhooks, webhooks.rotate),
        gate.change("/v1/webhooks/{id}/delete", for: .webhooks, webhooks.delete),
        gate.change("/v1/webhooks/{id}/replay", for: .webhooks, then: webhooks.reopen, webhooks.replay),
        gate.route(.post, "/v1/webhooks/{id}/test", for: .webhooks) { request, app, path in
            await webhooks.test(path["id"] ?? "", request.body, app: app)
        },
        gate.route(.get, "/v1/webhooks/{id}/deliveries", for: .read, readsQuery: true) { request, app, path in
            await log.list(path["id"] ?? "", request.query, app: app)
        },
        gate.route(.get, "/v1/webhooks/{id}/deliveries/{event}", for: .read) { _, app, path in
            await log.get(path["id"] ?? "", path["event"] ?? "", app: app)
        },
    ]
}

private func figures(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let charts = Charts(store: parts.store, clock: parts.clock)
    return [
        gate.route(.get, "/v1/metrics/overview", for: .read, readsQuery: true) { request, app, _ in
            await charts.overview(request.query, app: app)
        },
        gate.route(.get, "/v1/charts/{name}", for: .read, readsQuery: true) { request, app, path in
            await charts.chart(path["name"] ?? "", request.query, app: app)
        },
    ]
}

private func keys(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let keys = Keys(store: parts.store, desk: KeyDesk(ring: parts.keys), clock: parts.clock)
    let signing = SigningKeys(signer: parts.signer)
    return [
        Route(.get, "/v1/signing-keys") { request, _ in QueryFields.refusal(of: request) ?? signing.list() },
        gate.route(.get, "/v1/keys", for: .keys) { _, app, _ in await keys.list(app: app.id) },
        gate.changeOnce("/v1/keys", for: .keys, keys.create),
        gate.changeOnce("/v1/keys/{id}/rotate", for: .keys, keys.rotate),
        gate.change("/v1/keys/{id}/revoke", for: .keys, keys.revoke),
    ]
}

private func operating(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let app = ReadApp(store: parts.store, askable: Set(parts.signing.keys), clock: parts.clock)
    let jobs = Jobs(store: parts.store)
    return [
        gate.route(.get, "/v1/app", for: .read) { _, policy, _ in await app.respond(policy) },
        gate.route(.get, "/v1/jobs", for: .read) { _, _, _ in await jobs.figures() },
        gate.route(.get, "/v1/jobs/dead", for: .read, readsQuery: true) { request, policy, _ in
            await jobs.dead(request.query, app: policy)
        },
        gate.change("/v1/jobs/retry", for: .write, jobs.retryAll),
        gate.change("/v1/jobs/{id}/retry", for: .write, jobs.retry),
    ]
}

private func health(_ gate: Gate, _ parts: APIParts) -> [Route] {
    let health = Health(store: parts.store, metrics: parts.metrics)
    let certificates = ReadCertificates(store: parts.store)
    return [
        Route(.get, "/livez") { _, _ in health.live() },
        Route(.get, "/readyz") { _, _ in await health.ready() },
        Route(.get, "/metrics") { _, _ in health.scrape() },
        gate.route(.get, "/v1/certificates", for: .read) { _, _, _ in await certificates.list() },
        Route(.get, "/openapi.json") { _, _ in Health.description() },
        Route(.get, "/docs") { _, _ in DocsPages.standard.respond("") },
        Route(.get, "/docs/{section}") { _, path in DocsPages.standard.respond(path["section"] ?? "") },
    ]
}
