import Crypto
import Encoding
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// A shop whose customers' receipts hold each other's purchases, and how its ledger gets into another one.
struct OwnedBooks: Sendable {
    static let now = PipelineHouse.now

    let app: AppPolicy
    let clock = ManualClock(now)
    private let verifier: Verifier

    /// Sells `coins` (100 gems each), `lamp` (light, for ever), `monthly` and `yearly` (premium, and 10 or 120 gems).
    init() throws {
        let gems = try #require(CurrencyID("gems"))
        let premium = try #require(EntitlementID("premium"))
        let products = try [
            ("coins", ProductKind.consumable, [Goods.amount(100, gems)]),
            ("lamp", .nonConsumable, [.entitlement(try #require(EntitlementID("light")))]),
            ("monthly", .autoRenewable, [.entitlement(premium), .amount(10, gems)]),
            ("yearly", .autoRenewable, [.entitlement(premium), .amount(120, gems)]),
        ].map { id, kind, goods in ProductTerms(product: try #require(ProductID(id)), kind: kind, goods: goods) }
        app = AppPolicy(
            id: try #require(AppID("shop")),
            bundleID: TestAuthority.bundleID,
            environments: [.production, .sandbox],
            acceptsTestSigned: true,
            terms: AppTerms(products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }))
        )
        verifier = try PipelineHouse.verifier()
    }

    // MARK: What was bought

    static func sold(
        _ number: Int64,
        _ product: String = "lamp",
        original: Int64? = nil,
        day: Int64 = -20
    ) throws -> Transaction {
        let kinds = ["coins": ProductKind.consumable, "lamp": .nonConsumable]
        let moment = now.advanced(by: .seconds(day * 86_400))
        var sold = Transaction(
            id: try #require(TransactionID(number: number)),
            originalID: TransactionID(number: original ?? number),
            product: try #require(ProductID(product)),
            kind: kinds[product] ?? .autoRenewable,
            purchasedAt: moment,
            signedAt: now
        )
        sold.originallyPurchasedAt = moment
        if sold.kind == .autoRenewable { sold.expiresAt = moment.advanced(by: .seconds(30 * 86_400)) }
        return sold
    }

    /// An app receipt of so many seconds before now.
    static func receipt(
        _ sold: [Transaction],
        in environment: StoreEnvironment = .production,
        age: Int64 = 60
    ) throws -> [UInt8] {
        let receipt = SimulatedReceipt(
            app: TestAuthority.app(environment),
            createdAt: now.advanced(by: .seconds(-age)),
            purchases: sold
        )
        return try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256).sign(receipt)
    }

    static func row(_ line: Int64, _ proof: [UInt8], _ customer: String?, _ subject: ImportRow.Subject? = nil)
        -> ImportRow
    {
        let claim = ImportRow.Claim(proof: proof, customer: customer.flatMap { CustomerID($0) }, subject: subject)
        return ImportRow(line: line, end: line * 10, lineAfter: line + 1, claim: .success(claim))
    }

    static func subject(_ number: Int64, in environment: StoreEnvironment = .production) throws -> ImportRow.Subject {
        let id = try #require(TransactionID(number: number))
        return ImportRow.Subject(id, in: Realm(environment: environment, isTestSigned: true))
    }

    // MARK: In and out

    func importer(_ store: any Store, _ delivery: ImportDelivery = .elsewhere, reach: AppleReach = .nothing) -> Importer
    {
        let random = SharedCounter()
        let queue = JobQueue(store: store, clock: clock) { random.next() }
        let later: Importer.Later = { submission, due, write throws(StoreFailure) in
            try queue.enqueue(ImportedProofDecision(submission), due: due, in: write)
        }
        return Importer(
            verifier: verifier,
            store: store,
            app: app,
            delivery: delivery,
            clock: clock,
            lanes: 2,
            spacing: .seconds(1),
            reach: reach,
            later: later
        )
    }

    static func id(_ seed: UInt8) throws -> ProofDigest {
        try #require(ProofDigest([UInt8](repeating: seed, count: 32)))
    }

    func take(
        _ rows: [ImportRow],
        into store: any Store,
        _ delivery: ImportDelivery = .elsewhere,
        reach: AppleReach = .nothing,
        as seed: UInt8 = 1
    ) async throws -> [ImportOutcome] {
        let importer = importer(store, delivery, reach: reach)
        return try await importer.take(rows, after: try await importer.progress(of: Self.id(seed)), report: nil)
            .outcomes
    }

    func export(_ store: any Store) async throws -> [[UInt8]] {
        let (app, lines) = (app.id, Noted<[UInt8]>())
        _ = try await store.read { reader throws(StoreFailure) in
            try LedgerExport.run(
                app: app,
                kinds: [.transaction, .evidence, .fulfilment, .subscription, .balance, .event],
                includesProofs: true,
                over: reader,
                at: Self.now
            ) { _, row in
                lines.note(row)
                return true
            }
        }
        return lines.values
    }

    /// Takes an export in, in commits of random sizes, some of which a crash takes back.
    func take(
        _ export: [[UInt8]],
        into store: WatchedStore,
        as seed: UInt8,
        _ random: inout SeededRandom
    ) async throws -> ImportCounts {
        let bytes = Array(export.joined(separator: [0x0A]))
        let source = ImportSource { place in
            let start = min(Int(place), bytes.count)
            return .init(bytes: Array(bytes[start..<min(start + 900, bytes.count)]))
        }
        let columns = try #require(ImportColumns.presets["assay"])
        let importer = importer(store)
        var progress = try await importer.progress(of: Self.id(seed))
        while !progress.isDone {
            // As a process that has just begun.
            var reader = try ImportReader(source, .jsonLines, columns, from: progress.place, line: progress.line)
            for _ in 0..<Int.random(in: 1...4, using: &random) where !progress.isDone {
                let rows = try reader.next(Int.random(in: 1...9, using: &random), bytesMax: 1 << 20)
                progress = try await importer.take(rows, after: progress, report: nil).progress
            }
            let lost = try reader.next(Int.random(in: 1...9, using: &random), bytesMax: 1 << 20)
            try await Self.lose(lost, after: progress, importer, store)
        }
        return progress.counts
    }

    /// A commit that a crash takes back.
    private static func lose(
        _ rows: [ImportRow],
        after progress: ImportProgress,
        _ importer: Importer,
        _ store: WatchedStore
    ) async throws {
        store.fail(.busy)
        await #expect(throws: StoreFailure.busy) { try await importer.take(rows, after: progress, report: nil) }
        #expect(try await importer.progress(of: progress.id) == progress)
    }

    // MARK: What there is

    /// What every ledger that has it says of it, whoever brought it by which bytes, and whenever it came. What became of a
    /// transaction has a row of its own.
    static func lasting(_ export: [[UInt8]]) throws -> [String] {
        let passing: Set = ["recorded_at", "decided_at", "customer_id", "proof", "proof_sha256", "fulfilment"]
        return try export.compactMap { line in
            let row = try #require(try JSONDocument(line).root.object)
            if [ExportKind.event, .evidence].map(\.rawValue).contains(row["kind"]?.string) { return nil }
            return row.members.filter { !passing.contains($0.0) }
                .map { "\($0.0)=\(String(decoding: $0.1.raw, as: UTF8.self))" }.joined(separator: " ")
        }.sorted()
    }

    func owner(of original: Int64, in environment: StoreEnvironment = .production, _ store: any Store) async throws
        -> String?
    {
        let realm = Realm(environment: environment, isTestSigned: true)
        let chain = ChainKey(app: app.id, realm: realm, original: try #require(TransactionID(number: original)))
        return try await store.read { reader throws(StoreFailure) in try reader.owners([chain]).first?.customer.text }
    }

    /// What a customer may use now, as `GET /v1/customers/{id}/entitlements` reckons it.
    func rights(of customer: String, _ store: any Store) async throws -> [String] {
        let (app, customer) = (app.id, try #require(CustomerID(customer)))
        return try await store.read { reader throws(StoreFailure) in
            let chains = try reader.chains(app: app, customer: customer)
            return entitlements(try reader.fulfilments(chains), try reader.subscriptions(chains), at: Self.now)
                .map { "\($0)" }.sorted()
        }
    }
}
