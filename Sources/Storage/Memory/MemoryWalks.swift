import PurchaseModel

// Walks along everything, sorted anew for each page.
extension MemoryTransaction {
    func knownApps() -> [AppID] {
        var apps = Set(ledger.transactions.keys.map(\.app))
        apps.formUnion(ledger.submissions.map(\.submission.app))
        apps.formUnion(ledger.refusals.keys.compactMap(\.app))
        apps.formUnion(ledger.samples.compactMap(\.app))
        apps.formUnion(ledger.orders.keys.map(\.app))
        apps.formUnion(ledger.tokens.keys.map(\.app))
        apps.formUnion(ledger.owners.keys.map(\.app))
        apps.formUnion(ledger.subscriptions.keys.map(\.app))
        apps.formUnion(ledger.wallets.keys.map(\.app))
        apps.formUnion(ledger.consents.keys.map(\.app))
        apps.formUnion(ledger.grantedEntitlements.keys.map(\.app))
        apps.formUnion(ledger.supportRequests.keys.map(\.app))
        apps.formUnion(ledger.outbox.lastPositions.keys)
        apps.formUnion(ledger.outbox.endpoints.values.map(\.row.app))
        return apps.sorted()
    }

    func walkTransactions(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<WalkedTransaction> {
        let found = ledger.transactions.values.filter { $0.recorded.app == app }.map { entry in
            (
                [.integer(entry.recorded.id.number), Self.part(entry.recorded.realm)],
                WalkedTransaction(recorded: entry.recorded, hasEvidence: true)
            )
        }
        return Self.page(found, after: place, limit)
    }

    func walkFulfilments(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<Fulfilment> {
        let found = ledger.fulfilments.values.flatMap(\.values).filter { $0.transaction.app == app }.map { row in
            let realm = Self.part(row.transaction.realm)
            return ([.integer(row.original.number), realm, .integer(row.transaction.id.number)], row)
        }
        return Self.page(found, after: place, limit)
    }

    func walkSubscriptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) -> WalkPage<RecordedSubscription> {
        let found = ledger.subscriptions.values.filter { $0.chain.app == app }.map { row in
            ([.integer(row.chain.original.number), Self.part(row.chain.realm)], row)
        }
        return Self.page(found, after: place, limit)
    }

    func walkOrders(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<Order> {
        let found = ledger.orders.values.filter { $0.app == app }.map { ([WalkPlace.Part.text($0.id.text)], $0) }
        return Self.page(found, after: place, limit)
    }

    func walkWallets(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<Wallet> {
        let found = ledger.wallets.values.filter { $0.key.app == app }.map { (Self.parts($0.key), $0) }
        return Self.page(found, after: place, limit)
    }

    func walkGrantedEntitlements(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<GrantedEntitlement> {
        let found = ledger.grantedEntitlements.values.filter { $0.key.app == app }.map { row in
            let parts: [WalkPlace.Part] = [
                .text(row.key.customer.text), Self.part(row.key.realm), .text(row.key.entitlement.text),
            ]
            return (parts, row)
        }
        return Self.page(found, after: place, limit)
    }

    func walkPostings(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<Posting> {
        let found = ledger.postings.values.joined().filter { $0.wallet.app == app }.map { posting in
            (Self.parts(posting.wallet) + [.integer(posting.number)], posting)
        }
        return Self.page(found, after: place, limit)
    }

    func postings(_ wallet: WalletKey, of transaction: TransactionID) -> [Posting] {
        ledger.postings[wallet, default: []].filter { $0.transaction == transaction }
    }

    func walkEvents(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<WalkedEvent> {
        let found = walked(app: app).map { ([WalkPlace.Part.integer($0.cursor.position)], $0) }
        return Self.page(found, after: place, limit)
    }

    func walkStreams(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<WalkedEvent> {
        let found = walked(app: app).map { event in
            let customer = event.stream.customer?.text ?? ""
            return ([Self.part(event.stream.realm), .text(customer), .integer(event.sequence)], event)
        }
        return Self.page(found, after: place, limit)
    }

    func lastEvent(app: AppID) -> EventCursor { EventCursor(position: ledger.outbox.lastPositions[app] ?? 0) }

    func walkEndpoints(app: AppID) -> [WalkedEndpoint] {
        ledger.outbox.endpoints.values.filter { $0.row.app == app }.sorted { $0.number < $1.number }.map { endpoint in
            WalkedEndpoint(
                id: endpoint.row.id,
                filter: endpoint.row.filter,
                createdAt: endpoint.row.createdAt,
                isEnabled: endpoint.row.isEnabled,
                version: endpoint.row.version
            )
        }
    }

    func walkDeliveries(
        endpoint: WebhookEndpointID,
        after place: WalkPlace?,
        limit: Int
    ) -> WalkPage<WalkedDelivery> {
        let found = ledger.outbox.deliveries.values.filter { $0.row.id.endpoint == endpoint }.map { delivery in
            (
                [WalkPlace.Part.integer(delivery.row.cursor.position)],
                WalkedDelivery(
                    cursor: delivery.row.cursor,
                    realm: delivery.realm,
                    customer: delivery.customer,
                    state: delivery.row.state,
                    hasEnd: delivery.row.endedAt != nil
                )
            )
        }
        return Self.page(found, after: place, limit)
    }

    func walkEvidence(after place: WalkPlace?, limit: Int) -> WalkPage<EvidenceRow> {
        let found = ledger.evidence.enumerated().map { ([WalkPlace.Part.integer(Int64($0.offset))], $0.element) }
        return Self.page(found, after: place, min(limit, WalkPage<EvidenceRow>.proofsMax))
    }

    func walkSubmissions(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<WalkedSubmission> {
        let found = ledger.submissions.filter { $0.submission.app == app }.map { kept in
            (
                [WalkPlace.Part.bytes(kept.submission.digest.bytes), .text(kept.submission.customer?.text ?? "")],
                WalkedSubmission(
                    id: kept.id,
                    digest: kept.submission.digestOfProof,
                    proof: kept.submission.proof,
                    hasEnd: kept.settlement != nil,
                    hasVerdict: kept.settlement != nil
                )
            )
        }
        return Self.page(found, after: place, min(limit, WalkPage<WalkedSubmission>.proofsMax))
    }

    func walkConsumptionRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) -> WalkPage<ConsumptionRequest> {
        let found = ledger.consumptions.values.filter { $0.key.app == app }.map { row in
            ([WalkPlace.Part.text(row.key.id.text), Self.part(row.key.realm)], row)
        }
        return Self.page(found, after: place, limit)
    }

    func walkSupportRequests(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<SupportRequest> {
        let found = ledger.supportRequests.values.filter { $0.app == app }.map {
            ([WalkPlace.Part.text($0.id.text)], $0)
        }
        return Self.page(found, after: place, limit)
    }

    func walkAuditLog(after place: WalkPlace?, limit: Int) -> WalkPage<AuditRow> {
        let found = ledger.admins.actions.compactMap(\.self).map { ([WalkPlace.Part.integer($0.place)], $0) }
        return Self.page(found, after: place, limit)
    }

    func walkAuditChain(after place: WalkPlace?, limit: Int) -> WalkPage<AuditRow> {
        let found = ledger.admins.actions.compactMap(\.self).compactMap { row in
            row.number.map { ([WalkPlace.Part.integer($0)], row) }
        }
        return Self.page(found, after: place, limit)
    }

    private func walked(app: AppID) -> [WalkedEvent] {
        ledger.outbox.events.filter { $0.key.app == app }.map { place, event in
            WalkedEvent(
                cursor: EventCursor(position: place.position),
                stream: StreamKey(app: app, realm: event.realm, customer: event.customer),
                sequence: event.sequence,
                type: event.type,
                learnedAt: event.learnedAt
            )
        }
    }

    private static func part(_ realm: Realm) -> WalkPlace.Part { .integer(RealmCode.wanted(realm)) }

    private static func parts(_ wallet: WalletKey) -> [WalkPlace.Part] {
        [.text(wallet.customer.text), part(wallet.realm), .text(wallet.currency.text)]
    }

    static func page<Row>(
        _ found: [([WalkPlace.Part], Row)],
        after place: WalkPlace?,
        _ limit: Int
    ) -> WalkPage<Row> {
        let rest = found.filter { key, _ in place.map { precedes($0.parts, key) } ?? true }
            .sorted { precedes($0.0, $1.0) }
        let page = rest.prefix(min(max(limit, 1), WalkPage<Row>.limitMax))
        return WalkPage(
            rows: page.map(\.1),
            next: rest.count > page.count ? page.last.map { WalkPlace(parts: $0.0) } : nil
        )
    }

    private static func precedes(_ left: [WalkPlace.Part], _ right: [WalkPlace.Part]) -> Bool {
        for (left, right) in zip(left, right) where left != right {
            return switch (left, right) {
            case (.integer(let left), .integer(let right)): left < right
            case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
            case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
            default: false
            }
        }
        return false
    }
}
