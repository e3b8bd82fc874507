import Encoding
package import PurchaseModel
package import Storage

/// Everything of one app, row by row, over one snapshot: what was bought, what it gave, for which orders, what customers have,
/// and what was told.
///
/// In memory are a page of one table and the digests of some proofs, whatever the ledger holds.
package struct LedgerExport {
    static let pageMax = 200
    /// Of proofs that were written: beyond that one may be written again.
    static let seenMax = 100_000

    /// What is taken: one JSON object; false when nobody wants more.
    package typealias Take = (_ kind: ExportKind, _ row: [UInt8]) -> Bool

    let app: AppID
    let reader: any StoreReader
    /// How subscriptions stand depends on it.
    let now: Timestamp
    let includesProofs: Bool
    let take: Take
    var report = ExportReport()
    var seen: Set<ProofDigest> = []
    /// In which chains something was given that cannot be read.
    var unreadable: Set<ChainKey> = []

    /// Nobody wants more.
    struct Ended: Error {}

    /// - Parameters:
    ///   - app: whose rows.
    ///   - kinds: which of them, in the order of the catalogue.
    ///   - includesProofs: whether what proved each transaction stands with it.
    ///   - reader: the snapshot.
    ///   - now: the moment.
    ///   - take: gets each row.
    /// - Returns: how much there was, and where the feed ends: what changes later is told after that.
    /// - Throws: `StoreFailure`.
    package static func run(
        app: AppID,
        kinds: Set<ExportKind>,
        includesProofs: Bool,
        over reader: any StoreReader,
        at now: Timestamp,
        _ take: @escaping Take
    ) throws(StoreFailure) -> ExportReport {
        var export = LedgerExport(app: app, reader: reader, now: now, includesProofs: includesProofs, take: take)
        export.report.end = try reader.lastEvent(app: app)
        for kind in ExportKind.allCases where kinds.contains(kind) {
            guard try export.write(kind) else { return export.report }
        }
        // Where they are rows themselves, those are listed.
        if !kinds.contains(.fulfilment) {
            export.report.unreadable += export.unreadable.map { "fulfilments of \($0.original)" }.sorted()
        }
        // An app without any has nothing to close the books over.
        if kinds.contains(.transaction), export.report.recordedUntil == nil { export.report.recordedUntil = now }
        export.report.isWhole = true
        return export.report
    }

    private init(app: AppID, reader: any StoreReader, now: Timestamp, includesProofs: Bool, take: @escaping Take) {
        self.app = app
        self.reader = reader
        self.now = now
        self.includesProofs = includesProofs
        self.take = take
    }

    /// - Returns: false when nobody wants more.
    private mutating func write(_ kind: ExportKind) throws(StoreFailure) -> Bool {
        switch kind {
        case .transaction: try writeTransactions()
        case .evidence: try writeEvidence()
        case .fulfilment: try writeFulfilments()
        case .order: try writeOrders()
        case .subscription: try writeSubscriptions()
        case .balance: try writeBalances()
        case .grantedEntitlement: try writeGrantedEntitlements()
        case .event: try writeEvents()
        }
    }

    /// Hands over every row of a table, as the body makes it.
    mutating func walk<Row>(
        _ kind: ExportKind,
        _ fetch: @escaping (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>,
        _ rows: (inout LedgerExport, [Row]) throws(StoreFailure) -> [[UInt8]]
    ) throws(StoreFailure) -> Bool {
        var walk = LedgerWalk(fetch)
        while true {
            let page = try walk.page()
            report.unreadable += walk.takeUnreadable()
            if page.isEmpty { return true }
            for row in try rows(&self, page) { guard put(kind, row) else { return false } }
        }
    }

    mutating func put(_ kind: ExportKind, _ row: [UInt8]) -> Bool {
        report.counts[kind, default: 0] += 1
        return take(kind, row)
    }

    /// Whose row it is, and what it is.
    static func object(
        _ kind: ExportKind,
        _ realm: Realm?,
        _ body: (inout JSONObjectWriter) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> [UInt8] {
        try JSONWriter.object { json throws(StoreFailure) in
            json.member("kind", kind.rawValue)
            if let realm {
                json.member("environment", realm.environment.rawValue)
                if realm.isTestSigned { json.member("test_signed", true) }
            }
            try body(&json)
        }
    }
}
