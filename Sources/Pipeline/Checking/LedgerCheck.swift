import Crypto
import Encoding
import PurchaseModel
package import Storage

/// Looks at a whole ledger, and says what is not as the rules leave it.
///
/// Everything is read in pages over one snapshot, so that it may run beside servers that write. Kept in memory are a page
/// of each table, what is known of one chain and of one wallet, and a bounded number of findings.
package struct LedgerCheck {
    /// How many keys are looked up at once.
    static let pageMax = 500

    let reader: any StoreReader
    var findings = LedgerFindings()

    private init(_ reader: any StoreReader) { self.reader = reader }

    /// - Parameters:
    ///   - reader: over one snapshot.
    ///   - links: what was noted elsewhere of the audit log's chain.
    /// - Returns: what is wrong, and how much was looked at.
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    package static func run(
        over reader: any StoreReader,
        noted links: NotedLinks = NotedLinks()
    ) throws(StoreFailure) -> LedgerFindings {
        var check = LedgerCheck(reader)
        for app in try reader.knownApps() {
            try check.checkTransactions(app)
            let given = try check.checkFulfilments(app)
            try check.checkSubscriptions(app)
            try check.checkOrders(app)
            let posted = try check.checkWallets(app)
            if posted != given.amounts { try check.findUnposted(app) }
            let granted = try check.checkGrantedEntitlements(app)
            try check.checkStreams(app, changes: given.changes, granted: granted)
            try check.checkFeed(app)
            try check.checkSubmissions(app)
            try check.checkConsumptions(app)
            try check.checkSupports(app)
            try check.checkFigures(app)
        }
        try check.checkEvidence()
        try check.checkAudit(links)
        return check.findings
    }

    /// Hands over every row of a table; what cannot be read is noted.
    mutating func walk<Row>(
        _ fetch: @escaping (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>,
        _ body: (inout LedgerCheck, [Row]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        var walk = LedgerWalk(fetch)
        while true {
            let page = try walk.page()
            findings.add(unreadable: walk.takeUnreadable())
            if page.isEmpty { return }
            try body(&self, page)
        }
    }

    private mutating func checkTransactions(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        var last: TransactionKey?
        try walk { place throws(StoreFailure) in
            try reader.walkTransactions(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.transactions += page.count
            for row in page {
                if row.recorded.key == last {
                    check.findings.add(.recordedTwice, .of(row.recorded.key), "two rows have this key")
                }
                last = row.recorded.key
                if !row.hasEvidence {
                    check.findings.add(.evidenceMissing, .of(row.recorded.key), "a proof that it names is not there")
                }
            }
        }
    }

    private mutating func checkSubmissions(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkSubmissions(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.submissions += page.count
            for row in page {
                let names: [LedgerViolation.Name] = .of(app, nil, ("sha256", Self.text(of: row.digest)))
                // The bytes of what was decided are forgotten.
                let isForgotten = row.proof.isEmpty && row.hasEnd
                if !isForgotten, Digest.sha256(row.proof) != row.digest.bytes {
                    check.findings.add(.proofAltered, names, "a submission's bytes have another digest")
                }
                if row.hasEnd != row.hasVerdict {
                    check.findings.add(.submissionHalfSettled, names, "it has a moment or a verdict, and not both")
                }
            }
        }
    }

    private mutating func checkEvidence() throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkEvidence(after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.proofs += page.count
            check.findings.note(proofsOf: page.map(\.receivedAt))
            for row in page where Digest.sha256(row.proof) != row.digest.bytes {
                let names = [LedgerViolation.Name(key: "sha256", value: Self.text(of: row.digest))]
                check.findings.add(.proofAltered, names, "a proof's bytes have another digest")
            }
        }
    }

    private static func text(of digest: ProofDigest) -> String { Hexadecimal.encode(digest.bytes) }
}
