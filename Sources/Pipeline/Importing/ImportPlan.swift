package import PurchaseModel
package import Storage
package import Verification

/// What an import would do, found out without writing anything.
package struct ImportPlan: Sendable {
    /// Digests of rows, and transactions in their proofs, that are remembered to find those that stand there twice: 32 MB,
    /// whatever a source's size.
    static let rememberedMax = 1 << 22

    package private(set) var rows: Int64 = 0
    /// Genuine, and something of it unknown to the ledger.
    package private(set) var genuine: Int64 = 0
    /// All of it is recorded already, or is being asked about.
    package private(set) var known: Int64 = 0
    /// Each a question to Apple, which is one for all rows with the same number.
    package private(set) var needApple: Int64 = 0
    package private(set) var nothing: Int64 = 0
    /// Those of them that were bought in another store than Apple's.
    package private(set) var otherStore: Int64 = 0
    /// Rows with a purchase that name no customer: nobody owns it until somebody presents it.
    package private(set) var withoutCustomer: Int64 = 0
    /// Rows whose proof, or what proves their transaction, stood there before; of a source with millions of rows at least so
    /// many.
    package private(set) var repeated: Int64 = 0
    /// By `verdict: reason`.
    package private(set) var refused: [String: Int64] = [:]
    package private(set) var invalid: [String: Int64] = [:]
    /// The first of them.
    package private(set) var faults: [ImportOutcome] = []

    private let app: AppPolicy
    private let verifier: Verifier
    private let reach: AppleReach
    private let now: Timestamp
    private var remembered: [UInt64]

    /// - Parameters:
    ///   - app: whose purchases they are.
    ///   - verifier: proves what is signed.
    ///   - reach: what Apple can be asked about the app.
    ///   - now: the moment.
    package init(app: AppPolicy, verifier: Verifier, reach: AppleReach, at now: Timestamp) {
        self.app = app
        self.verifier = verifier
        self.reach = reach
        self.now = now
        remembered = Array(repeating: 0, count: Self.rememberedMax)
    }

    /// Looks at rows.
    ///
    /// - Parameters:
    ///   - rows: some of the source.
    ///   - lanes: how many proofs are verified at once.
    ///   - known: what the ledger says; `nil` without a ledger.
    /// - Throws: `StoreFailure` of the ledger.
    package mutating func look(
        at rows: [ImportRow],
        lanes: Int,
        known: ((ImportLookup) async throws(StoreFailure) -> ImportLookup.Answer)?
    ) async throws(StoreFailure) {
        let examiner = ImportExaminer(
            verifier: verifier,
            app: app,
            delivery: .elsewhere,
            reach: reach,
            startedAt: now,
            now: now
        )
        let examined = await examiner.examine(rows, lanes: lanes)
        let there = try await known?(ImportLookup(examined)) ?? ImportLookup.Answer()
        for row in examined {
            self.rows += 1
            count(row.finding, there)
            if isOver(row.finding, there) { continue }
            if row.row.namesNobody { withoutCustomer += 1 }
        }
    }

    private func isOver(_ finding: ExaminedRow.Finding, _ there: ImportLookup.Answer) -> Bool {
        guard case .claim(let claim, let otherwise) = finding else { return finding.isOver(there.decided) }
        let isRecorded = there.recorded.contains(claim.key) || isRemembered(Self.mark(of: claim.key))
        return !isRecorded && otherwise.isOver(there.decided)
    }

    private mutating func count(_ finding: ExaminedRow.Finding, _ there: ImportLookup.Answer) {
        switch finding {
        case .over(let outcome): note(outcome)
        case .ask(let pending, _, _, let refused):
            // By the ledger first: a number that it knows of one customer may still be asked about for another.
            if there.decided.contains(pending.id) {
                known += 1
            } else if let refused {
                note(refused)
            } else if !isRepeated(pending.digest) {
                needApple += 1
            }
        case .claim(let claim, let otherwise):
            if there.recorded.contains(claim.key) {
                known += 1
            } else if isRemembered(Self.mark(of: claim.key)) {
                repeated += 1
            } else {
                count(otherwise, there)
            }
        case .record(let recording, let evidence, _, _):
            if isRepeated(evidence.digest) { return }
            if recording.keys.allSatisfy(there.recorded.contains) { known += 1 } else { genuine += 1 }
            // Rows without a proof may come, of what stands in this one.
            if recording.claimed != nil { for key in recording.keys { remember(Self.mark(of: key)) } }
        }
    }

    private mutating func note(_ outcome: ImportOutcome) {
        switch outcome.kind {
        case .refused: refused["\(outcome.verdict?.rawValue ?? ""): \(outcome.reason ?? "")", default: 0] += 1
        case .invalid: invalid[outcome.reason ?? "", default: 0] += 1
        default:
            nothing += 1
            if outcome.isOfOtherStore { otherStore += 1 }
            return
        }
        if faults.count < 20 { faults.append(outcome) }
    }

    private mutating func isRepeated(_ digest: ProofDigest) -> Bool {
        let print = digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        defer { remember(print) }
        guard isRemembered(print) else { return false }
        repeated += 1
        return true
    }

    private static func mark(of key: TransactionKey) -> UInt64 {
        let side = UInt64(Realm.known.firstIndex(of: key.realm) ?? Realm.known.count)
        // Apple's numbers follow on one another: what is multiplied stands apart.
        return (UInt64(bitPattern: key.id.number) &* 16 &+ side) &* 0x9E37_79B9_7F4A_7C15
    }

    private func isRemembered(_ print: UInt64) -> Bool { remembered[Self.place(of: print)] == print | 1 }

    private mutating func remember(_ print: UInt64) { remembered[Self.place(of: print)] = print | 1 }

    private static func place(of print: UInt64) -> Int { Int(truncatingIfNeeded: print >> 1) & (rememberedMax - 1) }
}
