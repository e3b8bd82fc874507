package import HTTP
package import Pipeline
package import PurchaseModel
package import Storage

/// What the API needs from the rest of the house.
package struct APIParts: Sendable {
    package var pipeline: PurchasePipeline
    package var store: any Store
    package var apps: [AppPolicy]
    package var keys: KeyRing
    package var clock: any WallClock
    /// Requests a second for each key; 0 for no limit.
    package var requestsPerSecond: Int
    /// Where webhooks may go.
    package var egress: EgressRule
    /// Sends a test message; `nil` where nothing is sent.
    package var sender: WebhookSender?
    /// The metrics in Prometheus' text format.
    package var metrics: @Sendable () -> String

    package init(
        pipeline: PurchasePipeline,
        store: any Store,
        apps: [AppPolicy],
        keys: KeyRing,
        clock: any WallClock,
        requestsPerSecond: Int = 0,
        egress: EgressRule = EgressRule(),
        sender: WebhookSender? = nil,
        metrics: @escaping @Sendable () -> String
    ) {
        self.pipeline = pipeline
        self.store = store
        self.apps = apps
        self.keys = keys
        self.clock = clock
        self.requestsPerSecond = requestsPerSecond
        self.egress = egress
        self.sender = sender
        self.metrics = metrics
    }
}

/// The table of everything that is answered: read this first.
package func routes(_ parts: APIParts) -> Router {
    let gate = Gate(
        keys: parts.keys,
        apps: parts.apps,
        rate: RateLimit(perSecond: parts.requestsPerSecond, clock: parts.clock)
    )
    let submit = SubmitPurchase(pipeline: parts.pipeline)
    let transactions = ReadTransactions(store: parts.store)
    let submissions = ReadSubmission(store: parts.store)
    let orders = Orders(store: parts.store)
    let deliveries = Deliveries(store: parts.store)
    let customers = Customers(store: parts.store, clock: parts.clock)
    let webhooks = Webhooks(store: parts.store, clock: parts.clock, rule: parts.egress, sender: parts.sender)
    let deliveryLog = WebhookLog(store: parts.store)
    let feed = EventFeed(store: parts.store)
    let change = { (template: String, write: @escaping Gate.Write) in
        gate.change(template, in: parts.store, clock: parts.clock, write)
    }
    let health = Health(store: parts.store, metrics: parts.metrics)
    return Router([
        gate.route(.post, "/v1/purchases") { request, app, _ in await submit.respond(to: request, app: app) },
        gate.route(.get, "/v1/transactions/{id}") { _, app, path in
            await transactions.transaction(path["id"] ?? "", app: app.id)
        },
        gate.route(.get, "/v1/customers/{id}/transactions") { request, app, path in
            await transactions.transactions(of: path["id"] ?? "", query: request.query, app: app.id)
        },
        change("/v1/orders", Orders.place),
        change("/v1/orders/{id}/cancel", Orders.cancel),
        change("/v1/orders/{id}/attach", Orders.attach),
        gate.route(.get, "/v1/orders") { request, app, _ in await orders.list(request.query, app: app.id) },
        gate.route(.get, "/v1/orders/{id}") { _, app, path in await orders.get(path["id"] ?? "", app: app.id) },
        gate.route(.get, "/v1/purchases/waiting") { request, app, _ in
            await deliveries.waiting(request.query, app: app.id)
        },
        gate.route(.get, "/v1/deliveries/{id}") { _, app, path in
            await deliveries.get(path["id"] ?? "", app: app.id)
        },
        change("/v1/deliveries/{id}/ack", Deliveries.acknowledge),
        gate.route(.get, "/v1/customers/{id}/entitlements") { _, app, path in
            await customers.entitlements(of: path["id"] ?? "", app: app.id)
        },
        gate.route(.get, "/v1/customers/{id}/balances") { _, app, path in
            await customers.balances(of: path["id"] ?? "", app: app.id)
        },
        gate.route(.get, "/v1/customers/{id}/balances/{currency}/postings") { request, app, path in
            await customers.postings(of: path, request.query, app: app.id)
        },
        change("/v1/customers/{id}/balances/{currency}/use", Customers.use),
        change("/v1/customers/{id}/balances/{currency}/adjust", Customers.adjust),
        change("/v1/transfers", Transfers.transfer),
        gate.route(.get, "/v1/events") { request, app, _ in await feed.respond(request.query, app: app.id) },
        change("/v1/webhooks", webhooks.create),
        gate.route(.get, "/v1/webhooks") { _, app, _ in await webhooks.list(app: app.id) },
        gate.route(.get, "/v1/webhooks/{id}") { _, app, path in await webhooks.get(path["id"] ?? "", app: app.id) },
        change("/v1/webhooks/{id}", webhooks.update),
        change("/v1/webhooks/{id}/rotate", webhooks.rotate),
        change("/v1/webhooks/{id}/delete", webhooks.delete),
        change("/v1/webhooks/{id}/replay", webhooks.replay),
        gate.route(.post, "/v1/webhooks/{id}/test") { _, app, path in
            await webhooks.test(path["id"] ?? "", app: app.id)
        },
        gate.route(.get, "/v1/webhooks/{id}/deliveries") { request, app, path in
            await deliveryLog.list(path["id"] ?? "", request.query, app: app.id)
        },
        gate.route(.get, "/v1/webhooks/{id}/deliveries/{event}") { _, app, path in
            await deliveryLog.get(path["id"] ?? "", path["event"] ?? "", app: app.id)
        },
        gate.route(.get, "/v1/submissions/{id}") { _, app, path in
            await submissions.respond(to: path["id"] ?? "", app: app.id)
        },
        Route(.get, "/livez") { _, _ in health.live() },
        Route(.get, "/readyz") { _, _ in await health.ready() },
        Route(.get, "/metrics") { _, _ in health.scrape() },
    ])
}
