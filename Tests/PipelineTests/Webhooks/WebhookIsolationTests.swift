import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// The sender as it runs in a server: nobody waits for anybody else, and it stops in order.
@Suite struct WebhookIsolationTests {
    /// Whoever has them sent to receivers that never answer takes no room from what is to be sent.
    @Test func fewTestsAreUnderWayAtOnce() async throws {
        let (desk, door) = (WebhookDesk(), WebhookBarrier())
        let endpoints = (0..<9).map { desk.addEndpoint("slow\($0)", of: "app\($0 / 2)") }
        let shop = desk.addEndpoint("shop")
        desk.addEvents(1, to: shop)
        let inbox = WebhookInbox()
        let sender = desk.sender { call in
            inbox.append(call)
            if call.url != shop.url { await door.pass() }
            return .success(HTTPResponse(.ok))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for endpoint in endpoints.prefix(8) {
                group.addTask { _ = try await sender.sendTest(to: endpoint, id: .ofTest()) }
            }
            while inbox.all.count < 8 { try await Task.sleep(for: .milliseconds(1)) }
            await #expect(throws: WebhookSender.TestRefusal.underWay) {
                try await sender.sendTest(to: endpoints[0], id: .ofTest())
            }
            await #expect(throws: WebhookSender.TestRefusal.tooMany) {
                try await sender.sendTest(to: endpoints[8], id: .ofTest())
            }
            #expect(inbox.all.count == 8)
            door.open()
            try await group.waitForAll()
        }
        for endpoint in [endpoints[0], endpoints[8]] {
            #expect(try await sender.sendTest(to: endpoint, id: .ofTest()).verdict == .delivered)
        }
        await sender.deliverDue()
        #expect(desk.deliveries(of: shop).map(\.state) == [.delivered])
    }

    /// An app whose receivers all hang leaves the others room to try theirs.
    @Test func anAppHasTwoTestsUnderWayAtOnce() async throws {
        let (desk, door, inbox) = (WebhookDesk(), WebhookBarrier(), WebhookInbox())
        let refusals = Noted<WebhookSender.TestRefusal>()
        let endpoints = (0..<3).map { desk.addEndpoint("slow\($0)", of: "slow") }
        let other = desk.addEndpoint("other", of: "other")
        let sender = desk.sender { call in
            inbox.append(call)
            if call.url != other.url { await door.pass() }
            return .success(HTTPResponse(.ok))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for endpoint in endpoints.prefix(2) {
                group.addTask { _ = try await sender.sendTest(to: endpoint, id: .ofTest()) }
            }
            while inbox.all.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
            group.addTask {
                do throws(WebhookSender.TestRefusal) {
                    _ = try await sender.sendTest(to: endpoints[2], id: .ofTest())
                } catch {
                    refusals.note(error)
                }
            }
            while refusals.values.isEmpty, inbox.all.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
            let toOther = try await sender.sendTest(to: other, id: .ofTest())
            #expect(toOther.verdict == .delivered)
            door.open()
            try await group.waitForAll()
        }
        #expect(refusals.values == [.tooMany])
        let later = try await sender.sendTest(to: endpoints[2], id: .ofTest())
        #expect(later.verdict == .delivered)
    }

    /// A test takes a place of a call: of two calls to doubtful endpoints both may be taken by tests, and of one the only one.
    @Test(arguments: [1, 2]) func aTestNeedsRoomAsAnyCall(callsMax: Int) async throws {
        let (desk, door, inbox) = (WebhookDesk(), WebhookBarrier(), WebhookInbox())
        let endpoints = (0...callsMax).map { desk.addEndpoint("slow\($0)") }
        var settings = WebhookSender.Settings()
        (settings.callsMax, settings.doubtfulMax) = (callsMax, callsMax)
        let sender = desk.sender(settings) { call in
            inbox.append(call)
            await door.pass()
            return .success(HTTPResponse(.ok))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for endpoint in endpoints.dropLast() {
                group.addTask { _ = try await sender.sendTest(to: endpoint, id: .ofTest()) }
            }
            while inbox.all.count < callsMax { try await Task.sleep(for: .milliseconds(1)) }
            await #expect(throws: WebhookSender.TestRefusal.tooMany) {
                try await sender.sendTest(to: endpoints[callsMax], id: .ofTest())
            }
            door.open()
            try await group.waitForAll()
        }
    }

    /// Where this process has no room for a call nothing is sent and nothing noted, and it is not tried again at once.
    @Test func whatFindsNoRoomIsLeftUntilLater() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop", ordersPerCustomer: true)
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            return inbox.all.count < 50 ? .failure(.tooManyCalls) : .success(HTTPResponse(.ok))
        }
        for rounds in 1...3 {
            await sender.deliverDue()
            #expect(inbox.all.count == rounds)
        }
        #expect(desk.attempts.isEmpty)
        #expect(desk.deliveries(of: endpoint).map(\.state) == [.pending])
    }

    /// Runs a sender while `body` runs, and gives it a tick whenever `body` waits for something.
    private func running(
        _ sender: WebhookSender,
        _ body: @Sendable (_ until: @Sendable (@Sendable () -> Bool) async -> Bool) async throws -> Void
    ) async throws {
        let end = WebhookBarrier()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await sender.run {
                    await end.pass()
                    return false
                }
            }
            try await body { isSo in
                // Half a minute at most; nothing here takes as long on a machine that is not busy.
                for _ in 0..<6_000 {
                    if isSo() { return true }
                    sender.wake()
                    try? await Task.sleep(for: .milliseconds(5))
                }
                return isSo()
            }
            end.open()
            try await group.waitForAll()
        }
    }

    @Test func blackHolesDelayNobodyElse() async throws {
        let (desk, inbox, hole) = (WebhookDesk(), WebhookInbox(), WebhookBarrier())
        let endpoints = (0..<100).map { desk.addEndpoint("e\($0)") }
        let healthy = endpoints.enumerated().filter { $0.offset % 10 != 0 }.map(\.element)
        for endpoint in endpoints { desk.addEvents(10, to: endpoint) }
        let dead = Set(endpoints.enumerated().filter { $0.offset % 10 == 0 }.map(\.element.url))
        var settings = WebhookSender.Settings()
        settings.callsMax = 16
        settings.doubtfulMax = 12
        let sender = desk.sender(settings) { call in
            if dead.contains(call.url) {
                await hole.pass()
                return .failure(.timedOut)
            }
            inbox.append(call)
            return .success(HTTPResponse(.ok))
        }
        try await running(sender) { until in
            #expect(await until { inbox.all.count == 900 }, "while all of the others hang")
            #expect(await until { hole.count == 10 }, "each holds one call, and no more")
            #expect(Set(inbox.ids()).count == 900)
            #expect(
                await until { healthy.allSatisfy { desk.deliveries(of: $0).allSatisfy { $0.state == .delivered } } }
            )
            hole.open()
        }
    }

    @Test func theDoubtfulNeverTakeAllTheRoom() async throws {
        let (desk, inbox, hole) = (WebhookDesk(), WebhookInbox(), WebhookBarrier())
        let good = desk.addEndpoint("good")
        desk.addEvents(1, to: good)
        var settings = WebhookSender.Settings()
        settings.callsMax = 8
        settings.doubtfulMax = 4
        let sender = desk.sender(settings) { call in
            if call.url != good.url {
                await hole.pass()
                return .failure(.timedOut)
            }
            inbox.append(call)
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(inbox.all.count == 1)
        for number in 0..<50 { desk.addEvents(1, to: desk.addEndpoint("hole\(number)")) }
        try await running(sender) { until in
            #expect(await until { hole.count == 4 })
            desk.addEvents(20, to: good)
            #expect(await until { inbox.all.count == 21 })
            #expect(hole.count == 4)
            hole.open()
        }
    }

    /// They answer well, so that nothing but their number speaks against them.
    @Test func theSlowLeaveRoomForWhoHasNothing() async throws {
        let (desk, inbox, hole) = (WebhookDesk(), WebhookInbox(), WebhookBarrier())
        let slow = (0..<4).map { desk.addEndpoint("slow\($0)", concurrencyMax: 64) }
        let urls = Set(slow.map(\.url))
        let isSlow = Mutex(false)
        for endpoint in slow { desk.addEvents(40, to: endpoint) }
        var settings = WebhookSender.Settings()
        settings.callsMax = 64
        settings.doubtfulMax = 32
        let sender = desk.sender(settings) { call in
            if urls.contains(call.url), isSlow.withLock(\.self) { await hole.pass() }
            inbox.append(call)
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(inbox.all.count == 160)
        isSlow.withLock { $0 = true }
        for endpoint in slow { desk.addEvents(64, to: endpoint) }
        try await running(sender) { until in
            // The first has 41, its window; the others 15, 4 and 2, when they have none; and none of them has more.
            #expect(await until { hole.count == 62 })
            for number in 0..<3 { desk.addEvents(5, to: desk.addEndpoint("fresh\(number)")) }
            #expect(await until { inbox.all.count == 175 }, "what they hold is not waited for")
            #expect(hole.count == 62)
            hole.open()
            #expect(await until { inbox.all.count == 175 + 256 })
        }
    }

    @Test func leasesAreRenewedWhileACallTakesLong() async throws {
        let (desk, hole) = (WebhookDesk(), WebhookBarrier())
        let endpoint = desk.addEndpoint("slow")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { _ in
            await hole.pass()
            return .success(HTTPResponse(.ok))
        }
        try await running(sender) { until in
            #expect(await until { hole.count == 1 })
            for turn in 1...5 {
                desk.clock.advance(by: .seconds(10))
                #expect(await until { desk.renewals == turn })
            }
            hole.open()
            #expect(await until { desk.deliveries(of: endpoint).first?.state == .delivered })
        }
        #expect(hole.count == 1, "nobody else claimed it in 50 seconds")
    }

    @Test func aStopWaitsForWhatIsUnderWay() async throws {
        let (desk, inbox, hole) = (WebhookDesk(), WebhookInbox(), WebhookBarrier())
        let endpoint = desk.addEndpoint("slow", concurrencyMax: 1)
        desk.addEvents(3, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            await hole.pass()
            return .success(HTTPResponse(.ok))
        }
        try await running(sender) { until in
            #expect(await until { hole.count == 1 })
            sender.stop()
            hole.open()
        }
        #expect(inbox.all.count == 1)
        #expect(desk.deliveries(of: endpoint).map(\.state) == [.delivered, .pending, .pending])
    }

    @Test func aCancelledSenderGivesBackWhatItHolds() async throws {
        let (desk, hole) = (WebhookDesk(), WebhookBarrier())
        let endpoint = desk.addEndpoint("slow")
        desk.addEvents(2, to: endpoint)
        let sender = desk.sender { _ in
            await hole.pass()
            return Task.isCancelled ? .failure(.cancelled) : .success(HTTPResponse(.ok))
        }
        let task = Task {
            await sender.run {
                await WebhookBarrier().pass(); return false
            }
        }
        while hole.count < 1 { await Task.yield() }
        task.cancel()
        await task.value
        let deliveries = desk.deliveries(of: endpoint)
        #expect(deliveries.map(\.state) == [.pending, .pending] && deliveries.map(\.attempts) == [0, 0])
    }

    @Test func aLongBacklogIsWorkedOffWithFewQuestions() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop", concurrencyMax: 4)
        desk.addEvents(200, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(inbox.all.count == 200 && desk.questions <= 3 && desk.claimsAtOnceMax == 1)
    }

    @Test func anIdleSenderDoesNotAskAgainAndAgain() async throws {
        let desk = WebhookDesk()
        let endpoint = desk.addEndpoint("ordered", ordersPerCustomer: true)
        desk.addEvents(2, to: endpoint)
        let sender = desk.sender { _ in .success(HTTPResponse(.internalServerError)) }
        await sender.deliverDue()
        // The first failed, and the second waits for it.
        let claims = desk.claims
        #expect(claims <= 3)
        await sender.deliverDue()
        #expect(desk.claims <= claims + 1)
    }
}
