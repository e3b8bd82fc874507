import Crypto
import Encoding
import Foundation
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Customers live for two years in the simulated store. Everything that it signs about them is proved, in every format,
/// and says field by field what the store's own ledger says: two readings of Apple's rules that share no rule.
///
/// Each store has ten customers. `ASSAY_LIVES=1000` lets a thousand live; the ordinary run has fifty.
struct SimulatedLivesTests {
    private static let inStore = 10
    static let seeds: Range<UInt64> = {
        let lives = ProcessInfo.processInfo.environment["ASSAY_LIVES"].flatMap { Int($0) } ?? 50
        return 1..<UInt64(max(1, lives / inStore)) + 1
    }()

    private static let start = Timestamp(seconds: 1_704_067_200)
    private static let years = Duration.seconds(730 * 86_400)

    /// A store in which two years have gone by.
    private static func store(_ seed: UInt64) -> SimulatedStore {
        var store = SimulatedStore(startingAt: start, seed: seed)
        var app = DemoCatalogue.app()
        app.productionNotifications = NotificationTarget(url: "https://shop.example/apple")
        app.sandboxNotifications = app.productionNotifications
        store.set(app)
        var population = Population(in: store, app: app.bundleID, count: inStore, seed: seed)
        population.live(until: start.advanced(by: years))
        return population.store
    }

    private static func expecting(_ environment: StoreEnvironment) -> Expected {
        Expected(
            bundleID: DemoCatalogue.bundleID,
            appleID: environment == .production ? DemoCatalogue.appleID : nil,
            environments: [environment]
        )
    }

    private static func proof(_ bytes: [UInt8], in environment: StoreEnvironment) throws -> Proof {
        let examination = try TestVerifier.simulated().examine(bytes, expecting: expecting(environment))
        #expect(examination.reason == .addedRoot, "\(examination.report.detail ?? "")")
        return try #require(examination.proof).fact
    }

    @Test(arguments: seeds)
    func signedTransactionsAndRenewals(_ seed: UInt64) throws {
        let store = Self.store(seed)
        let signer = try StoreSigner(TestAuthority.shared)
        let app = try #require(store.apps[DemoCatalogue.bundleID])
        #expect(store.transactions.count > 50)
        for sold in store.transactions.values {
            let text = try signer.transaction(sold, of: app, at: store.now)
            let proof = try Self.proof(Array(text.utf8), in: sold.environment)
            var expected = sold.fact
            expected.signedAt = store.now
            if sold.isSubscription { expected.billingPlan = "BILLED_UPFRONT" }
            #expect(proof.transactions == [expected])
        }
        for line in store.lines.values {
            let text = try signer.sign(.renewal(of: line, in: store))
            let proof = try Self.proof(Array(text.utf8), in: line.environment)
            var expected = store.renewal(of: line)
            expected.winBackOffers = store.outlook(of: line).winBackOffers
            expected.nextBillingPlan = line.willAutoRenew ? "BILLED_UPFRONT" : nil
            // What will not be charged has no price.
            if !line.willAutoRenew { expected.nextPrice = nil }
            #expect(proof.claims.renewal == expected)
        }
        for customer in store.customers.values {
            guard let download = customer.downloads[app.bundleID] else { continue }
            let text = try signer.sign(
                .appTransaction(download, of: app, in: customer.environment, signedAt: store.now)
            )
            let found = try #require(try Self.proof(Array(text.utf8), in: customer.environment).claims.download)
            #expect(found.appTransaction == download.appTransactionID)
            #expect(found.originallyPurchasedAt == download.at)
            #expect(found.environment == customer.environment)
        }
    }

    @Test(arguments: seeds)
    func notifications(_ seed: UInt64) async throws {
        let store = Self.store(seed)
        let clock = ManualClock(store.now)
        let simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        let sender = try NoticeSender(simulator, caller: HTTPCaller(handler: HTTPHandler { _ in HTTPResponse(.ok) }))
        await sender.deliverDue()
        var seen = 0
        for environment in [StoreEnvironment.production, .sandbox] {
            for sent in sender.sentNotices.all(DemoCatalogue.bundleID, environment) {
                try Self.compare(Self.proof(Array(sent.signedPayload.utf8), in: environment), sent.notice)
                seen += 1
            }
        }
        #expect(seen == store.notices.count)
    }

    private static func compare(_ proof: Proof, _ notice: StoreNotice) throws {
        let told = try #require(proof.claims.notice)
        #expect(told.type == notice.type.rawValue)
        #expect(told.subtype == notice.subtype)
        #expect(told.uuid == notice.uuid)
        #expect(told.signedAt == notice.at)
        #expect(told.environment == notice.environment)
        guard case .purchase(let purchase) = notice.subject else { return }
        var expected = purchase.transaction.fact
        expected.signedAt = notice.at
        if purchase.transaction.isSubscription { expected.billingPlan = "BILLED_UPFRONT" }
        #expect(proof.transactions == [expected])
        guard let line = purchase.line else { return }
        let renewal = try #require(proof.claims.renewal)
        #expect(renewal.originalID == line.originalID)
        #expect(renewal.nextProduct == line.nextProduct)
        #expect(renewal.willAutoRenew == line.willAutoRenew)
        #expect(renewal.expirationIntent == line.expirationIntent?.rawValue)
        #expect(renewal.graceEndsAt == line.failure?.graceEndsAt)
        #expect(renewal.renewsAt == line.expiresAt)
        #expect(renewal.recentStartAt == line.recentStartAt)
        #expect(renewal.accountToken == line.accountToken)
    }

    @Test(arguments: seeds)
    func receiptsOfBothKinds(_ seed: UInt64) throws {
        let store = Self.store(seed)
        let receipts = CustomerReceipts(TestAuthority.shared)
        for (number, customer) in store.customers.values.sorted(by: { $0.name < $1.name }).enumerated() {
            let owner = SimulatedStore.Owner(customer: customer.name, app: DemoCatalogue.bundleID)
            let ledger = try #require(CustomerLedger(store, owner))
            let receipt = try receipts.appReceipt(ledger, digest: number % 2 == 0 ? .sha256 : .sha1)
            let proof = try Self.proof(receipt, in: customer.environment)
            let expected = ledger.lasting.map { Self.inReceipt($0, madeAt: store.now) }
            #expect(Set(proof.transactions) == Set(expected))
            #expect(proof.transactions.count == expected.count)
            for (place, sold) in ledger.transactions.enumerated() where place % 5 == 0 {
                let version = OldReceiptSigner.Version.allCases[place / 5 % OldReceiptSigner.Version.allCases.count]
                let old = try receipts.transactionReceipt(sold, ledger, version: version)
                let found = try #require(try Self.proof(old, in: customer.environment).transactions.first)
                #expect(found.id == sold.id)
                #expect(found.originalID == sold.originalID)
                #expect(found.product == sold.fact.product)
                #expect(found.quantity == sold.fact.quantity)
                #expect(found.purchasedAt == sold.fact.purchasedAt)
                #expect(found.expiresAt == sold.fact.expiresAt)
            }
        }
    }

    /// What an app receipt says of a transaction: moments in whole seconds, and less than StoreKit 2 tells.
    private static func inReceipt(_ sold: SoldTransaction, madeAt moment: Timestamp) -> Transaction {
        let fact = sold.fact
        var expected = Transaction(
            id: fact.id,
            originalID: sold.originalID,
            product: fact.product,
            kind: fact.kind,
            quantity: fact.quantity,
            purchasedAt: seconds(fact.purchasedAt),
            originallyPurchasedAt: fact.originallyPurchasedAt.map(seconds),
            expiresAt: fact.expiresAt.map(seconds),
            signedAt: seconds(moment)
        )
        expected.webOrderLineItem = fact.webOrderLineItem
        if fact.kind != .consumable { expected.revocation = fact.revocation.map { Revocation(at: seconds($0.at)) } }
        switch fact.offer?.kind {
        case .promotional?:
            expected.offer = Offer(kind: .promotional, identifier: fact.offer?.identifier)
        case .introductory?:
            let isTrial = fact.offer?.discount == "FREE_TRIAL"
            expected.offer = Offer(kind: .introductory, discount: isTrial ? "FREE_TRIAL" : nil)
        default: break
        }
        return expected
    }

    private static func seconds(_ moment: Timestamp) -> Timestamp {
        Timestamp(seconds: moment.milliseconds / 1_000)
    }
}
