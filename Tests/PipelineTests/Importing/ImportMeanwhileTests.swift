import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// What stands in another system's books by its number, and comes by another way before Apple has answered: a proof that an
/// app presents, a notification.
@Suite struct ImportMeanwhileTests {
    private static let gems = CurrencyID("gems")

    private static func house() throws -> WorkHouse {
        let coins = DemoCatalogue.product("coins.100")
        let goods = [Goods.amount(100, try #require(gems))]
        let plan = DemoCatalogue.product("pro.monthly")
        return try WorkHouse(
            terms: AppTerms(products: [
                coins: ProductTerms(product: coins, kind: .consumable, goods: goods),
                plan: ProductTerms(product: plan, kind: .autoRenewable, goods: goods),
            ])
        )
    }

    private static func digits(_ sold: SoldTransaction) -> [UInt8] { Array(sold.id.description.utf8) }

    private static func take(
        _ rows: [ImportRow],
        _ house: WorkHouse,
        _ delivery: ImportDelivery = .elsewhere,
        as seed: UInt8 = 1
    ) async throws -> [ImportOutcome] {
        let importer = try ImporterTests.importer(house, delivery)
        let progress = try await importer.progress(of: ImporterTests.id(seed))
        return try await importer.take(rows, after: progress, report: nil).outcomes
    }

    /// As Apple tells of it: nobody brings it.
    private static func tell(_ house: WorkHouse) async throws {
        _ = try await house.pipeline.submit(Submission(app: house.app, bytes: try house.receipt(), customer: nil))
    }

    private struct Sight: Equatable {
        var granted: Int
        var gems: Int64
        var owner: String?
        var imported: [Bool]
    }

    private static func sight(of sold: SoldTransaction, _ customer: String, _ house: WorkHouse) async throws -> Sight {
        let realm = Realm(environment: .production, isTestSigned: true)
        let (app, customer) = (house.app.id, try #require(CustomerID(customer)))
        let chain = ChainKey(app: app, realm: realm, original: sold.id)
        let wallet = WalletKey(app: app, realm: realm, customer: customer, currency: try #require(gems))
        return try await house.store.read { reader throws(StoreFailure) in
            let filter = EventFilter(realms: [realm])
            let events = try reader.events(app: app, after: .start, where: filter, limit: 100).events
            return Sight(
                granted: events.count { $0.event.type == "delivery.granted" },
                gems: try reader.wallets([wallet]).first?.balance ?? 0,
                owner: try reader.owners([chain]).first?.customer.text,
                imported: try reader.fulfilments([chain]).sorted { $0.purchasedAt < $1.purchasedAt }.map(\.isImported)
            )
        }
    }

    /// Whoever presents it, the file says whose it is, as it would had Apple answered before.
    @Test(arguments: ["ann", "bob"], [false, true])
    func whatIsPresentedBeforeItsTurnIsDeliveredByNobody(presenter: String, isTold: Bool) async throws {
        let house = try Self.house()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            // Told of while the old system still delivers: it is known, and nobody's.
            if isTold { try await Self.tell(house) }
            let rows = [
                ImporterTests.row(1, Array("2000000099999999".utf8)), ImporterTests.row(2, Self.digits(sold)),
            ]
            #expect(try await Self.take(rows, house).map(\.kind) == [.asked, .asked])
            guard case .recorded(let decision) = try await house.submit(try house.receipt(), customer: presenter) else {
                return #expect(Bool(false), "it is genuine")
            }
            #expect(decision.outcomes.map(\.standing) == [presenter == "ann" ? .recorded : .ownedByAnother])
            let wanted = Sight(granted: 0, gems: 0, owner: "ann", imported: [true])
            #expect(try await Self.sight(of: sold, presenter, house) == wanted)
            // Apple's answer changes nothing.
            house.pass(.seconds(60))
            try await house.work()
            #expect(house.calls.values.count { $0.contains(sold.id.description) } == 1)
            #expect(try await Self.sight(of: sold, presenter, house) == wanted)
        }
    }

    /// Of a chain that the books name by its first number what was bought before they were handed in is theirs.
    @Test(arguments: [false, true]) func whatIsRenewedMeanwhileIsDelivered(isMeanwhile: Bool) async throws {
        let house = try Self.house()
        try await house.open { house in
            let sold = try house.buy("pro.monthly")
            if !isMeanwhile { house.pass(.seconds(40 * 86_400)) }
            #expect(try await Self.take([ImporterTests.row(1, Self.digits(sold))], house).map(\.kind) == [.asked])
            if isMeanwhile { house.pass(.seconds(40 * 86_400)) }
            _ = try await house.submit(try house.receipt())
            // Its trial, a month that is over, and one that runs.
            let later = Array(repeating: !isMeanwhile, count: 2)
            let count = isMeanwhile ? 1 : 0
            let wanted = Sight(granted: count, gems: Int64(100 * count), owner: "ann", imported: [true] + later)
            let first = try await Self.sight(of: sold, "ann", house)
            #expect(first == wanted)
            try await house.work()
            let last = try await Self.sight(of: sold, "ann", house)
            #expect(last == wanted)
        }
    }

    /// Its end, before Apple has answered about its number, is the first that is heard of it: the shop hears of that.
    @Test func whatEndsBeforeItsTurnIsTold() async throws {
        let house = try Self.house()
        try await house.open { house in
            let sold = try house.buy("pro.monthly")
            let line = Act.Subscription(customer: "anna", app: DemoCatalogue.bundleID, product: sold.fact.product)
            _ = try house.simulator.perform(.setAutoRenew(line, isOn: false))
            house.pass(.seconds(3_600))
            #expect(try await Self.take([ImporterTests.row(1, Self.digits(sold))], house).map(\.kind) == [.asked])
            for _ in 0..<40 { house.pass(.seconds(86_400)) }
            await house.sender.deliverDue()
            let filter = EventFilter(realms: [Realm(environment: .production, isTestSigned: true)])
            let app = house.app.id
            let told = try await house.store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: .start, where: filter, limit: 100).events.map(\.event.type)
            }
            #expect(told.filter { $0 == "subscription.expired" }.count == 1, "\(told)")
            #expect(!told.contains("delivery.granted"))
        }
    }

    /// What is still to be delivered is, once, and to whoever shows it first.
    @Test func whatNobodyHasDeliveredIsDelivered() async throws {
        let house = try Self.house()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            _ = try await Self.take([ImporterTests.row(1, Self.digits(sold))], house, .here)
            _ = try await house.submit(try house.receipt())
            try await house.work()
            let wanted = Sight(granted: 1, gems: 100, owner: "ann", imported: [false])
            #expect(try await Self.sight(of: sold, "ann", house) == wanted)
        }
    }

    // MARK: Recorded before the import

    /// The old system still delivered when Apple told of it, and its row names nobody.
    @Test(arguments: ImportDelivery.allCases)
    func whatWaitedBeforeItsNumberCameIsDeliveredByNobody(delivery: ImportDelivery) async throws {
        let house = try Self.house()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            try await Self.tell(house)
            let outcomes = try await Self.take([ImporterTests.row(1, Self.digits(sold), nil)], house, delivery)
            #expect(outcomes.map(\.kind) == [.known] && outcomes.map(\.transactions) == [[sold.id]])
            _ = try await house.submit(try house.receipt(), customer: "bob")
            let isNew = delivery == .here
            let wanted = Sight(granted: isNew ? 1 : 0, gems: isNew ? 100 : 0, owner: "bob", imported: [!isNew])
            #expect(try await Self.sight(of: sold, "bob", house) == wanted)
            #expect(house.calls.values.isEmpty)
        }
    }

    /// In one commit with the row that brings it; and what was delivered here stays so.
    @Test func theNumberOfWhatIsKnownIsDecidedLikeItsProof() async throws {
        let house = try Self.house()
        try await house.open { house in
            let first = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            let second = try house.buy("coins.100")
            let rows = [
                ImporterTests.row(1, Self.digits(first), nil), ImporterTests.row(2, try house.receipt()),
                ImporterTests.row(3, Self.digits(second)), ImporterTests.row(4, Self.digits(first)),
            ]
            #expect(try await Self.take(rows, house).map(\.kind) == [.known, .recorded, .known, .known])
            let delivered = Sight(granted: 1, gems: 100, owner: "ann", imported: [false])
            #expect(try await Self.sight(of: first, "ann", house) == delivered)
            #expect(try await Self.sight(of: second, "ann", house).imported == [true])
        }
    }

    /// Its customer had presented it, and it waited for an order that nobody named.
    @Test func whatWaitedForAnOrderIsOfTheBooks() async throws {
        let house = try WorkHouse(terms: AppTerms(needsOrder: true))
        try await house.open { house in
            let sold = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            #expect(try await Self.sight(of: sold, "ann", house).imported == [false])
            #expect(try await Self.take([ImporterTests.row(1, Self.digits(sold))], house).map(\.kind) == [.known])
            #expect(try await Self.sight(of: sold, "ann", house).imported == [true])
        }
    }
}
