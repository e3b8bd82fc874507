import PurchaseModel
import Simulator
import Storage

/// All that the store holds, read at one moment past every process.
struct Snapshot: Sendable {
    var figures = StoreFigures()
    var transactions: [TransactionKey: RecordedTransaction] = [:]
    var fulfilments: [TransactionKey: Fulfilment] = [:]
    var owners: [ChainKey: Owner] = [:]
    var orders: [OrderID: Order] = [:]
    var wallets: [WalletKey: Wallet] = [:]
    var granted: [GrantedEntitlement] = []
    /// In their order.
    var postings: [WalletKey: [Posting]] = [:]
    /// In commit order.
    var events: [EventRow] = []
    var deliveries: [WebhookEndpointID: [WebhookDelivery]] = [:]

    /// Looks at what the App Store has sold: nothing else may be there, and the figures tell whether there is.
    static func take(of world: World) async throws -> Snapshot {
        let sold = world.appStore.simulator.read { Array($0.transactions.keys) }
        let customers = world.customers.map(\.id)
        let endpoints = world.shop.endpoints.map(\.id)
        return try await world.fleet.base.read { reader throws(StoreFailure) in
            var all = Snapshot()
            all.figures = try reader.figures()
            for id in sold {
                for row in try reader.transactions(app: Trade.app, id: id) { all.transactions[row.key] = row }
            }
            let chains = Set(
                all.transactions.values.flatMap { row in
                    [row.chain, ChainKey(app: row.app, realm: row.realm, original: row.id)]
                }
            )
            for row in try reader.fulfilments(Array(chains)) { all.fulfilments[row.transaction] = row }
            for row in try reader.owners(Array(chains)) { all.owners[row.chain] = row }
            for customer in customers {
                all.granted += try reader.grantedEntitlements(app: Trade.app, customer: customer)
                for wallet in try reader.wallets(app: Trade.app, customer: customer) {
                    all.wallets[wallet.key] = wallet
                    all.postings[wallet.key] = try postings(wallet.key, reader)
                }
            }
            try all.addListings(reader, endpoints)
            return all
        }
    }

    private static func postings(_ wallet: WalletKey, _ reader: any StoreReader) throws(StoreFailure) -> [Posting] {
        var all: [Posting] = []
        while true {
            let page = try reader.postings(wallet, before: all.last?.number, limit: Wallet.postingsMax)
            all += page
            if page.count < Wallet.postingsMax { return all.reversed() }
        }
    }

    private mutating func addListings(
        _ reader: any StoreReader,
        _ endpoints: [WebhookEndpointID]
    ) throws(StoreFailure) {
        var after: OrderID?
        repeat {
            let page = try reader.orders(app: Trade.app, customer: nil, after: after, limit: OrderPage.limitMax)
            for order in page.orders { orders[order.id] = order }
            after = page.next
        } while after != nil
        let everything = EventFilter(realms: Shop.realms)
        var page = EventPage(next: .start, hasMore: true)
        while page.hasMore {
            page = try reader.events(app: Trade.app, after: page.next, where: everything, limit: EventPage.limitMax)
            events += page.events.map(\.event)
        }
        for endpoint in endpoints {
            var before: EventCursor?
            repeat {
                let page = try reader.deliveries(
                    endpoint: endpoint,
                    state: nil,
                    before: before,
                    limit: WebhookDeliveryPage.limitMax
                )
                deliveries[endpoint, default: []] += page.deliveries
                before = page.next
            } while before != nil
        }
    }
}
