import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// When notifications are posted, how often, and what is noted about it.
struct NoticeDeliveryTests {
    @Test func whatHappenedIsPostedOnceAndInOrder() async throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.buy("sword", by: "berta")
        life.days(7)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        await desk.sender.deliverDue()
        let types = try desk.payloads().map { $0.text("notificationType") }
        #expect(types == ["SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW"])
        let first = try #require(desk.inbox.all.first)
        #expect(first.method == .post)
        #expect(first.url == "https://shop.example/production")
        #expect(first.fields["Content-Type"] == "application/json")
        #expect(try desk.received().allSatisfy { $0.keys == ["signedPayload"] })
        #expect(desk.sender.messages.allSatisfy { $0.isDelivered && $0.nextAttemptAt == nil && $0.attempts.count == 1 })
    }

    /// Whoever moves time and is answered finds all of it told, also what another call was just telling.
    @Test func whoAsksForDeliveryWaitsForWhatOthersDeliver() async throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        let (came, coming) = AsyncStream.makeStream(of: Void.self)
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        let steps = Mutex<[String]>([])
        let simulator = AppStoreSimulator(
            life.store,
            authority: TestAuthority.shared,
            wallClock: ManualClock(StoreLife.start)
        )
        let caller = HTTPCaller { _ async throws(HTTPCallFailure) in
            coming.yield()
            _ = await opened.first { _ in true }
            steps.withLock { $0.append("told") }
            return HTTPResponse(.ok)
        }
        let sender = try NoticeSender(simulator, caller: caller)
        async let first: Void = sender.deliverDue()
        _ = await came.first { _ in true }
        let impatient = Task { await sender.deliverDue() }
        impatient.cancel()
        await impatient.value
        let second = Task {
            await sender.deliverDue()
            steps.withLock { $0.append("answered") }
        }
        for _ in 0..<1_000 { await Task.yield() }
        opening.yield()
        await first
        await second.value
        #expect(steps.withLock { $0 } == ["told", "answered"])
    }

    static let schedules: [(version: NotificationTarget.Version, hours: [Int])] = [
        (.two, [0, 1, 13, 37, 85, 157]), (.one, [0, 6, 30, 78]),
    ]

    @Test(arguments: schedules)
    func whatFailsIsTriedAgainBySchedule(version: NotificationTarget.Version, hours: [Int]) async throws {
        var life = StoreLife()
        if version == .one { try life.useOldNotices() }
        try life.buy("pro.yearly")
        let desk = try NoticeDesk(life) { _ in .success(.serviceUnavailable) }
        await desk.sender.deliverDue()
        // Hour by hour, nothing comes early and nothing late.
        for hour in 1...200 {
            await desk.hours(1)
            #expect(desk.inbox.all.count == hours.filter { $0 <= hour }.count, "hour \(hour)")
        }
        let message = try #require(desk.sender.messages.first)
        #expect(message.attempts.map(\.at) == hours.map { StoreLife.start.advanced(by: .seconds($0 * 3_600)) })
        #expect(message.attempts.allSatisfy { $0.result == .unsuccessfulStatus })
        #expect(message.nextAttemptAt == nil)
        // The same text each time, signature and all.
        #expect(Set(desk.inbox.all.map(\.body)).count == 1)
    }

    @Test func aLeapInTimeMakesUpForAllAttempts() async throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        let desk = try NoticeDesk(life) { _ in .failure(.timedOut) }
        await desk.hours(24 * 8)
        let times = desk.sender.messages.map { $0.attempts.map { StoreLife.start.duration(to: $0.at) } }
        let hour = Duration.seconds(3_600)
        #expect(times.first == [0, 1, 13, 37, 85, 157].map { hour * $0 })
        // The renewal came in the meantime; its third attempt is still to come.
        #expect(times.last == [168, 169, 181].map { hour * $0 })
        let order = try desk.payloads().map { $0.text("notificationType") }
        #expect(order == Array(repeating: "SUBSCRIBED", count: 6) + Array(repeating: "DID_RENEW", count: 3))
    }

    @Test(arguments: [NotificationTarget.Version.one, .two])
    func theSandboxTriesOnce(_ version: NotificationTarget.Version) async throws {
        var life = StoreLife()
        if version == .one { try life.useOldNotices() }
        try life.buy("pro.yearly", by: "tester")
        let desk = try NoticeDesk(life) { _ in .failure(.unreachable) }
        await desk.sender.deliverDue()
        #expect(desk.inbox.all.map(\.url) == ["https://shop.example/sandbox"])
        #expect(desk.sender.nextAttemptAt == nil)
        #expect(desk.sender.messages.first?.attempts.map(\.result) == [.socketIssue])
    }

    @Test(arguments: 200...206)
    func theseStatusesAreSuccess(_ status: Int) { #expect(SentNotice.Result(Self.response(status)) == .success) }

    @Test(arguments: [207, 300, 302, 400, 401, 404, 429, 500, 503])
    func theseStatusesAreNot(_ status: Int) {
        #expect(SentNotice.Result(Self.response(status)) == .unsuccessfulStatus)
    }

    private static func response(_ status: Int) -> HTTPResponse { HTTPResponse(HTTPStatus(rawValue: status)) }

    @Test(arguments: [
        (HTTPCallFailure.timedOut, "TIMED_OUT"), (.tls, "TLS_ISSUE"), (.tooManyRedirects, "CIRCULAR_REDIRECT"),
        (.noResponse, "NO_RESPONSE"), (.unreachable, "SOCKET_ISSUE"), (.unresolved, "SOCKET_ISSUE"),
        (.connectionLost, "SOCKET_ISSUE"), (.addressRefused, "SOCKET_ISSUE"), (.proxy, "SOCKET_ISSUE"),
        (.malformedResponse, "INVALID_RESPONSE"), (.tooLarge, "INVALID_RESPONSE"), (.closedEarly, "PREMATURE_CLOSE"),
        (.invalidCall, "OTHER"), (.tooManyCalls, "OTHER"), (.other(code: 2), "OTHER"),
    ])
    func failuresHaveApplesWords(failure: HTTPCallFailure, word: String) async throws {
        #expect(SentNotice.Result(failure).rawValue == word)
        var life = StoreLife()
        try life.buy("sword")
        let desk = try NoticeDesk(life) { number in number == 0 ? .failure(failure) : .success(.noContent) }
        await desk.hours(1)
        #expect(desk.sender.messages.first?.attempts.map(\.result.rawValue) == [word, "SUCCESS"])
    }

    @Test func disturbancesLoseRepeatDelayAndReorder() async throws {
        var life = StoreLife()
        for product in ["coins.100", "coins.1000", "sword", "pass.season", "pro.weekly"] { try life.buy(product) }
        let disturb: @Sendable (NoticeMessage, Int) -> Disturbance = { message, attempt in
            var disturbance = Disturbance()
            switch message.number {
            case 0: disturbance.loss = .message
            case 1: disturbance.loss = attempt == 1 ? .attempt : .none
            case 2: disturbance.copies = 2
            case 3: disturbance.delay = .seconds(7_200)
            default: disturbance.rank = -1
            }
            return disturbance
        }
        let desk = try NoticeDesk(life, disturbance: disturb)
        await desk.sender.deliverDue()
        #expect(desk.inbox.all.count == 3)
        await desk.hours(3)
        let posted = try desk.payloads().map { try #require($0.text("notificationUUID")) }
        let uuids = desk.sender.messages.map(\.notice.uuid)
        #expect(posted == [4, 2, 2, 1, 3].map { uuids[$0] })
        let sent = desk.sender.sentNotices.all(life.app, .production)
        #expect(sent.map(\.isLost) == [true, false, false, false, false])
        let attempts = desk.sender.messages.map { $0.attempts.map(\.result) }
        #expect(attempts == [[], [.timedOut, .success], [.success], [.success], [.success]])
        // The fourth act was the third millisecond's.
        #expect(desk.sender.messages[3].attempts.first?.at == StoreLife.start.advanced(by: .milliseconds(7_200_003)))
    }

    @Test func whoHasNoAddressIsToldNothing() async throws {
        var life = StoreLife()
        life.store.set(DemoCatalogue.app())
        try life.buy("sword")
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        #expect(desk.sender.messages.isEmpty)
        // An address that comes later gets what happens later.
        desk.simulator.change { store in
            var app = DemoCatalogue.app()
            app.productionNotifications = NotificationTarget(url: "https://late.example/")
            store.set(app)
        }
        var purchase = Act.Purchase(customer: "berta", app: life.app, product: DemoCatalogue.product("sword"))
        purchase.quantity = 1
        _ = try desk.simulator.perform(.buy(purchase))
        await desk.sender.deliverDue()
        #expect(desk.inbox.all.map(\.url) == ["https://late.example/"])
    }

    @Test func theHistoryHasTheTextsAndTheAttempts() async throws {
        var life = StoreLife()
        try life.buy("sword")
        try life.buy("sword", by: "tester")
        let desk = try NoticeDesk(life) { number in number == 0 ? .failure(.noResponse) : .success(.ok) }
        await desk.hours(2)
        let history = desk.sender.sentNotices
        let real = history.all(life.app, .production)
        #expect(real.count == 1)
        #expect(history.all(life.app, .sandbox).count == 1)
        #expect(history.all(BundleID(checked: "com.example.none"), .sandbox).isEmpty)
        let sent = try #require(real.first)
        #expect(sent.attempts.map(\.result) == [.noResponse, .success])
        #expect(try desk.received().first?.text("signedPayload") == sent.signedPayload)
        #expect(history.one(life.app, .production, sent.notice.uuid) == sent)
        #expect(history.one(life.app, .sandbox, sent.notice.uuid) == nil)
    }

    @Test func runningIsDrivingAgainAndAgain() async throws {
        let desk = try NoticeDesk()
        let rounds = 5
        let count = Counter()
        await desk.sender.run {
            let round = count.next()
            let purchase = Act.Purchase(
                customer: "anna",
                app: DemoCatalogue.bundleID,
                product: DemoCatalogue.product("coins.100")
            )
            _ = try? desk.simulator.perform(.buy(purchase))
            return round < rounds
        }
        #expect(desk.inbox.all.count == rounds - 1)
    }

    @Test func aCancelledDeliveryIsStillToBeMade() async throws {
        var life = StoreLife()
        try life.buy("sword")
        let desk = try NoticeDesk(life) { number in number == 0 ? .failure(.cancelled) : .success(.ok) }
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await desk.sender.deliverDue()
        }
        await task.value
        #expect(desk.inbox.all.isEmpty)
        await desk.sender.deliverDue()
        #expect(desk.sender.messages.first?.attempts.isEmpty == true)
        await desk.sender.deliverDue()
        #expect(desk.inbox.all.count == 2)
        #expect(desk.sender.messages.first?.attempts.map(\.result) == [.success])
    }

    @Test func twoDriversMakeNoAttemptTwice() async throws {
        var life = StoreLife()
        for _ in 0..<40 { try life.buy("coins.100") }
        let desk = try NoticeDesk(life)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { await desk.sender.deliverDue() } }
        }
        #expect(Set(desk.inbox.all.map(\.body)).count == 40)
        #expect(desk.inbox.all.count == 40)
    }
}
