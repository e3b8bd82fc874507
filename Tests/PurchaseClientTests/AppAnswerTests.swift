import Foundation
import PurchaseClient
import Synchronization
import Testing

/// What the app is asked about what the store brings by itself, and how it may answer.
@Suite struct AppAnswerTests {
    /// An app may await a sign-in there. What is others' is sent meanwhile, and the answer counts, however late it is.
    @Test(arguments: UInt64(0)..<8) func anAppThatTakesItsTimeStopsNoSending(seed: UInt64) throws {
        let (phone, events) = (Phone(seed: seed), Noted())
        for _ in 0..<4 { _ = phone.sell(isForged: false) }
        let isSignedIn = Mutex(false)
        let asked = Mutex(0)
        let customer: @Sendable (StorePurchase) async -> String? = { purchase in
            guard purchase.id == "1" else { return "anna" }
            asked.withLock { $0 += 1 }
            while !isSignedIn.withLock(\.self), !Task.isCancelled { await phone.time.sleep(10) }
            return "bob"
        }
        try PurchaseClientTests.run(phone, events, customer: customer, atMost: 50_000) { client in
            while phone.unfinished.map(\.id) != ["1"] { await phone.time.sleep(1) }
            // The store brings it again, and the app has still not said whose it is.
            while !events.all.contains(.unclaimed(purchase: "1", accountToken: nil)) { await phone.time.sleep(1) }
            isSignedIn.withLock { $0 = true }
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(asked.withLock(\.self) == 1)
        #expect(phone.server.recorded.count == 4)
    }

    /// Codes that are redeemed in the App Store, and other purchases begun there, come without a token.
    @Test func whatHasNoTokenIsOfWhoeverIsSignedIn() throws {
        let (phone, events) = (Phone(seed: 1), Noted())
        let (own, others) = (UUID(), UUID())
        for token in [nil, own, others] { _ = phone.sell(isForged: false, to: token) }
        try PurchaseClientTests.run(
            phone,
            events,
            customer: { $0.accountToken == nil || $0.accountToken == own ? "anna" : nil }
        ) { _ in
            while phone.unfinished.map(\.id) != ["3"] { await phone.time.sleep(1) }
        }
        #expect(phone.server.recorded == ["proof-1", "proof-2"])
        #expect(events.all.contains(.unclaimed(purchase: "3", accountToken: others)))
        #expect(!events.all.contains { if case .unclaimed("1", _) = $0 { true } else { false } })
    }

    /// An app that claims by tokens alone never has it, and can see by the event why.
    @Test func thatItHasNoTokenIsTold() throws {
        let (phone, events) = (Phone(seed: 2), Noted())
        _ = phone.sell(isForged: false)
        let own: UUID? = UUID()
        try PurchaseClientTests.run(phone, events, customer: { $0.accountToken == own ? "anna" : nil }) { _ in
            while events.all.isEmpty { await phone.time.sleep(1) }
        }
        #expect(events.all.first == .unclaimed(purchase: "1", accountToken: nil))
    }

    /// What an earlier run has left behind and ends only now is none of this run's, which would wait for another.
    @Test(arguments: UInt64(0)..<8) func whatOutlastsItsRunHoldsUpNoLaterOne(seed: UInt64) throws {
        let phone = Phone(seed: seed)
        let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let asked = Mutex(0)
        let token: @Sendable (String) async -> String? = { _ in
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            // It takes no notice of being cancelled.
            if isFirst { await withCheckedContinuation { wake in held.withLock { $0 = wake } } }
            return "token"
        }
        try PurchaseClientTests.run(phone, token: token, isRun: false, atMost: 20_000) { client in
            let source = PurchaseSource(listen: { _ in }, unfinished: { [] })
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            let first = Task(executorPreference: phone.time) { await client.run(source) { _ in nil } }
            while held.withLock({ $0 == nil }) { await phone.time.sleep(1) }
            first.cancel()
            let second = Task(executorPreference: phone.time) { await client.run(source) { _ in nil } }
            // A store that takes its time is told aside, too.
            let slow = phone.sell(isForged: false)
            phone.state.withLock { _ = $0.finishesNever.insert(slow.id) }
            try await client.submit(slow, customer: "anna")
            for await _ in await client.states(of: slow.id) {}
            await phone.time.sleep(10)
            held.withLock { $0 }?.resume()
            await first.value
            await client.wake()
            await phone.time.sleep(10)
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            while phone.unfinished.map(\.id) != [slow.id] { await phone.time.sleep(1) }
            second.cancel()
        }
    }

    /// Somebody signs in while the app is still on its way to say that nobody has: the question was asked too early.
    @Test(arguments: UInt64(0)..<8) func whoSignsInMeanwhileIsAskedFor(seed: UInt64) throws {
        let (phone, events) = (Phone(seed: seed), Noted())
        for _ in 0..<2 { _ = phone.sell(isForged: false) }
        let door = Door(phone)
        let source = PurchaseSource(listen: { _ in }, unfinished: phone.source.unfinished)
        try PurchaseClientTests.run(phone, events, isRun: false, atMost: 600) { client in
            let run = Task(executorPreference: phone.time) { await client.run(source, customer: door.customer) }
            while door.asked < 2 { await phone.time.sleep(1) }
            door.signIn()
            await client.wake()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            run.cancel()
        }
        #expect(door.asked == 4, "each once more")
        #expect(phone.server.recorded.count == 2)
    }

    /// The second question, too, may have been asked too early.
    @Test(arguments: UInt64(0)..<8) func whoSignsInDuringTheSecondQuestionIsAskedForALastTime(seed: UInt64) throws {
        let phone = Phone(seed: seed)
        _ = phone.sell(isForged: false)
        let door = Door(phone)
        let source = PurchaseSource(listen: { _ in }, unfinished: phone.source.unfinished)
        try PurchaseClientTests.run(phone, isRun: false, atMost: 600) { client in
            let run = Task(executorPreference: phone.time) { await client.run(source, customer: door.customer) }
            while door.asked < 1 { await phone.time.sleep(1) }
            await client.wake()
            while door.asked < 2 { await phone.time.sleep(1) }
            door.signIn()
            await client.wake()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            run.cancel()
        }
        #expect(door.asked == 3)
        #expect(phone.server.recorded.count == 1)
    }

    /// What was sent and finished before the last question would have come is nobody else's.
    @Test func whoSignsInBeforeTheLastQuestionIsNotAskedIt() throws {
        let (phone, events) = (Phone(seed: 5), Noted())
        _ = phone.sell(isForged: false)
        let asked = Mutex(0)
        let client = Mutex<PurchaseClient?>(nil)
        let customer: @Sendable (StorePurchase) async -> String? = { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            if number > 2 { return number == 3 ? "anna" : "bob" }
            await phone.time.sleep(5)
            await client.withLock(\.self)?.wake()
            await phone.time.sleep(5)
            return nil
        }
        let source = PurchaseSource(listen: { _ in }, unfinished: phone.source.unfinished)
        try PurchaseClientTests.run(phone, events, isRun: false, atMost: 2_000) { running in
            client.withLock { $0 = running }
            let run = Task(executorPreference: phone.time) { await running.run(source, customer: customer) }
            while asked.withLock(\.self) < 2 || !events.all.contains(.unclaimed(purchase: "1", accountToken: nil)) {
                await phone.time.sleep(1)
            }
            await phone.time.sleep(20)
            await running.wake()
            await phone.time.sleep(500)
            run.cancel()
        }
        #expect(asked.withLock(\.self) == 3)
        #expect(phone.server.recorded.count == 1 && phone.unfinished.isEmpty)
    }

    /// What an app shows to ask who it is wakes it once it is gone: who puts that away sees it once more, and a last time after a
    /// while.
    @Test func whoPutsAwayTheQuestionIsAskedThriceAtMost() throws {
        let (phone, events) = (Phone(seed: 3), Noted())
        _ = phone.sell(isForged: false)
        let asked = Mutex(0)
        let client = Mutex<PurchaseClient?>(nil)
        let nobody: @Sendable (StorePurchase) async -> String? = { _ in
            asked.withLock { $0 += 1 }
            await phone.time.sleep(5)
            await client.withLock(\.self)?.wake()
            await phone.time.sleep(5)
            return nil
        }
        // The store brings it by itself, and nothing more.
        let isBrought = Mutex(false)
        let source = PurchaseSource(
            listen: { _ in },
            unfinished: {
                isBrought.withLock { before in
                    defer { before = true }
                    return before
                } ? [] : await phone.source.unfinished()
            }
        )
        try PurchaseClientTests.run(phone, events, isRun: false, atMost: 5_000) { running in
            client.withLock { $0 = running }
            let run = Task(executorPreference: phone.time) { await running.run(source, customer: nobody) }
            await phone.time.sleep(500)
            run.cancel()
        }
        #expect(asked.withLock(\.self) == 3)
        #expect(events.all.contains(.unclaimed(purchase: "1", accountToken: nil)))
    }

    /// Where nobody signs in each wake has the app asked once, however often it comes while the app still thinks.
    @Test func nobodyIsAskedForWithoutEnd() throws {
        let phone = Phone(seed: 1)
        for _ in 0..<3 { _ = phone.sell(isForged: false) }
        let asked = Mutex(0)
        let nobody: @Sendable (StorePurchase) async -> String? = { purchase in
            asked.withLock { $0 += 1 }
            // No two answer at the same time.
            await phone.time.sleep(10 + (Double(purchase.id) ?? 0))
            return nil
        }
        let source = PurchaseSource(listen: { _ in }, unfinished: phone.source.unfinished)
        try PurchaseClientTests.run(phone, isRun: false, atMost: 5_000) { client in
            let run = Task(executorPreference: phone.time) { await client.run(source, customer: nobody) }
            await phone.time.sleep(5)
            for _ in 0..<2 {
                await client.wake()
                await phone.time.sleep(1)
            }
            await phone.time.sleep(3_000)
            run.cancel()
        }
        #expect(asked.withLock(\.self) == 6)
    }

    /// What the run before still asks about is not asked about by the next one, until that answer has come.
    @Test(arguments: UInt64(0)..<8) func aQuestionOfTheRunBeforeIsAskedAgain(seed: UInt64) throws {
        let phone = Phone(seed: seed)
        _ = phone.sell(isForged: false)
        let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
        // It takes no notice of being cancelled.
        let slow: @Sendable (StorePurchase) async -> String? = { _ in
            await withCheckedContinuation { wake in held.withLock { $0 = wake } }
            return nil
        }
        let source = PurchaseSource(listen: { _ in }, unfinished: phone.source.unfinished)
        try PurchaseClientTests.run(phone, isRun: false, atMost: 600) { client in
            let first = Task(executorPreference: phone.time) { await client.run(source, customer: slow) }
            while held.withLock({ $0 == nil }) { await phone.time.sleep(1) }
            first.cancel()
            let second = Task(executorPreference: phone.time) { await client.run(source) { _ in "anna" } }
            await phone.time.sleep(10)
            held.withLock { $0 }?.resume()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            second.cancel()
            await first.value
        }
        #expect(phone.server.recorded == ["proof-1"])
    }
}

/// An app that takes its time to say who is signed in, and says who was when it was asked.
private final class Door: Sendable {
    private let phone: Phone
    private let state = Mutex((asked: 0, isSignedIn: false))

    init(_ phone: Phone) { self.phone = phone }

    var asked: Int { state.withLock(\.asked) }

    func signIn() { state.withLock { $0.isSignedIn = true } }

    @Sendable func customer(_ purchase: StorePurchase) async -> String? {
        let isSignedIn = state.withLock { state in
            state.asked += 1
            return state.isSignedIn
        }
        await phone.time.sleep(10)
        return isSignedIn ? "anna" : nil
    }
}
