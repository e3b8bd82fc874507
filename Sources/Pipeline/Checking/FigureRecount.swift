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
        var place: WalkPlace?
        repeat {
            let page = try reader.walkFulfilments(app: app, after: place, limit: LedgerCheck.pageMax)
            try Self.expectReadable(page)
            var recorded: [TransactionKey: Transaction] = [:]
            for row in try reader.transactions(page.rows.map(\.transaction)) { recorded[row.key] = row.transaction }
            for row in page.rows {
                sums.add(row.figures)
                if row.chain != chain { finishChain() }
                chain = row.chain
                if let transaction = recorded[row.transaction] { transactions.append(transaction) }
            }
            place = page.next
        } while place != nil
        finishChain()
    }

    private mutating func finishChain() {
        if let chain { sums.add(chain.figures(transactions)) }
        transactions = []
    }

    private mutating func countTheRest() throws(StoreFailure) {
        var place: WalkPlace?
        repeat {
            let page = try reader.walkOrders(app: app, after: place, limit: LedgerCheck.pageMax)
            try Self.expectReadable(page)
            for order in page.rows { sums.add(order.figures) }
            place = page.next
        } while place != nil
        repeat {
            let page = try reader.walkSubscriptions(app: app, after: place, limit: LedgerCheck.pageMax)
            try Self.expectReadable(page)
            for subscription in page.rows { sums.add(subscription.figures) }
            place = page.next
        } while place != nil
        repeat {
            let page = try reader.walkEvents(app: app, after: place, limit: LedgerCheck.pageMax)
            try Self.expectReadable(page)
            for event in page.rows {
                let type = EventType(rawValue: event.type)
                if let key = type?.figure(event.stream, learnedAt: event.learnedAt) { sums.add(1, to: key) }
            }
            place = page.next
        } while place != nil
    }

    private mutating func subtractKept() throws(StoreFailure) {
        var place: WalkPlace?
        repeat {
            let page = try reader.walkFigures(app: app, after: place, limit: LedgerCheck.pageMax)
            try Self.expectReadable(page)
            for figure in page.rows { sums.add(0 - figure.amount, to: figure.key) }
            place = page.next
        } while place != nil
    }

    private static func expectReadable<Row>(_ page: WalkPage<Row>) throws(StoreFailure) {
        if !page.unreadable.isEmpty { throw .broken(code: 0) }
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
