import PurchaseModel
import Storage

/// The figures of an app, counted anew from all of its rows, over one snapshot.
///
/// Kept in memory are the sums, a page of each table and one chain: sums are few however many rows there are.
struct FigureRecount {
    private let app: AppID
    private let reader: any StoreReader
    private var sums = FigureSums()
    /// The chain that the walk is in.
    private var chain: ChainKey?
    private var transactions: [Transaction] = []
    private var ends = PeriodEnds()

    private init(_ app: AppID, _ reader: any StoreReader) {
        self.app = app
        self.reader = reader
    }

    /// What is missing from the figures that are kept; what is there too much is negative.
    ///
    /// - Throws: `StoreFailure.broken` when a row cannot be read: then it cannot be said.
    static func difference(of app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> FigureSums {
        var recount = FigureRecount(app, reader)
        try recount.countChains()
        try recount.countTheRest()
        try recount.subtractKept()
        return recount.sums
    }

    private mutating func countChains() throws(StoreFailure) {
        let (app, reader) = (app, reader)
        try walk { place throws(StoreFailure) in
            try reader.walkFulfilments(app: app, after: place, limit: LedgerCheck.pageMax)
        } _: { recount, rows throws(StoreFailure) in
            var recorded: [TransactionKey: Transaction] = [:]
            for row in try reader.transactions(rows.map(\.transaction)) { recorded[row.key] = row.transaction }
            var ends: [ChainKey: PeriodEnds] = [:]
            for row in try reader.subscriptions(Array(Set(rows.map(\.chain)))) { ends[row.chain] = row.ends }
            for row in rows {
                row.count(in: &recount.sums)
                if row.chain != recount.chain {
                    recount.finishChain()
                    recount.ends = ends[row.chain] ?? PeriodEnds()
                }
                recount.chain = row.chain
                if let transaction = recorded[row.transaction] { recount.transactions.append(transaction) }
            }
        }
        finishChain()
    }

    private mutating func finishChain() {
        if let chain { sums.add(chain.figures(transactions, ends)) }
        transactions = []
    }

    private mutating func countTheRest() throws(StoreFailure) {
        let (app, reader) = (app, reader)
        try walk { place throws(StoreFailure) in
            try reader.walkOrders(app: app, after: place, limit: LedgerCheck.pageMax)
        } _: { recount, orders in
            for order in orders { order.count(in: &recount.sums) }
        }
        try walk { place throws(StoreFailure) in
            try reader.walkSubscriptions(app: app, after: place, limit: LedgerCheck.pageMax)
        } _: { recount, subscriptions in
            for subscription in subscriptions { subscription.count(in: &recount.sums) }
        }
        try walk { place throws(StoreFailure) in
            try reader.walkEvents(app: app, after: place, limit: LedgerCheck.pageMax)
        } _: { recount, events in
            for event in events {
                let type = EventType(rawValue: event.type)
                if let key = type?.figure(event.stream, learnedAt: event.learnedAt) { recount.sums.add(1, to: key) }
            }
        }
    }

    private mutating func subtractKept() throws(StoreFailure) {
        let (app, reader) = (app, reader)
        try walk { place throws(StoreFailure) in
            try reader.walkFigures(app: app, after: place, limit: LedgerCheck.pageMax)
        } _: { recount, figures in
            for figure in figures { recount.sums.add(0 - figure.amount, to: figure.key) }
        }
    }

    private mutating func walk<Row>(
        _ fetch: @escaping (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>,
        _ body: (inout FigureRecount, [Row]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        var walk = LedgerWalk(fetch)
        while true {
            let page = try walk.page()
            if !walk.takeUnreadable().isEmpty { throw .broken(code: 0) }
            if page.isEmpty { return }
            try body(&self, page)
        }
    }
}

extension LedgerCheck {
    /// Each figure is the sum of what the rows add that it counts. Where a row cannot be read, that is told of the row.
    mutating func checkFigures(_ app: AppID) throws(StoreFailure) {
        if try reader.figuresAreDue(app: app) { return }
        let difference: FigureSums
        do throws(StoreFailure) {
            difference = try FigureRecount.difference(of: app, reader)
        } catch .broken {
            return
        }
        let sorted = difference.values.sorted { left, right in
            let (one, other) = (left.key, right.key)
            return one.measure == other.measure
                ? one.day < other.day : one.measure.rawValue < other.measure.rawValue
        }
        for (key, missing) in sorted {
            let names: [LedgerViolation.Name] = .of(app, key.realm, ("product_id", key.product?.text))
            let what = "\(key.measure.rawValue) of day \(key.day.number) is \(missing) off what the rows come to"
            findings.add(.figureDiffers, names, what)
        }
    }
}
