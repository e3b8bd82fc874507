import Foundation
import PurchaseClient
import PurchaseModel
import Synchronization
import Testing

/// Everything together: many lives of an app, in any weather, on a disk that fails.
@Suite struct PurchaseClientTests {
    /// One life of the app: until it is killed, or all is done.
    private static func live(_ phone: Phone, for seconds: Double?, purchases: Int, _ events: Noted) async {
        guard let file = try? OutboxFile(PaperDisk.Storage(phone.disk)) else { return }
        let client = PurchaseClient(
            ClientSettings(key: "pk_test"),
            file: file,
            transport: phone.transport,
            surroundings: phone.time.surroundings
        ) { events.append($0) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await client.run(phone.source) { _ in phone.chance.happens(oneIn: 4) ? nil : "anna" } }
            group.addTask {
                for _ in 0..<purchases {
                    await phone.time.sleep(Double(phone.chance.below(300)))
                    if Task.isCancelled { return }
                    let sold = phone.sell(isForged: phone.chance.happens(oneIn: 6))
                    // The app may be killed before it has done anything about it.
                    if phone.chance.happens(oneIn: 5) { continue }
                    let order = phone.chance.happens(oneIn: 3) ? "order-\(sold.id)" : nil
                    try? await client.submit(sold, customer: "anna", order: order)
                    if phone.chance.happens(oneIn: 5) { await client.wake() }
                }
            }
            group.addTask {
                if let seconds {
                    await phone.time.sleep(seconds)
                } else {
                    // Until the store has nothing left that is not refused.
                    while true {
                        let open = phone.unfinished.map(\.id)
                        let refused = await client.unfinished.filter(\.isRefused).map(\.id)
                        if Set(open).isSubset(of: refused), await client.unfinished.count == refused.count { break }
                        await phone.time.sleep(10)
                        await client.wake()
                    }
                }
                phone.disk.die()
            }
            while !phone.disk.isDead { await group.next() }
            group.cancelAll()
        }
    }

    @Test(arguments: UInt64(0)..<120)
    func everyPurchaseIsFinishedOnceItIsRecordedAndNeverBefore(seed: UInt64) throws {
        let calm = Mutex(false)
        let phone = Phone(seed: seed) { chance in
            calm.withLock(\.self) ? nil : chance.happens(oneIn: 40) ? chance.pick([.dies, .isFull, .fails]) : nil
        }
        let events = Noted()
        for life in 0..<6 {
            let isLast = life == 5
            if isLast {
                calm.withLock { $0 = true }
                phone.state.withLock { $0.isCalm = true }
            }
            let seconds = isLast ? nil : Double(phone.chance.below(4_000))
            let purchases = isLast ? 0 : phone.chance.below(6)
            let ended: Void? = phone.time.run(atMost: 100_000) {
                await Self.live(phone, for: seconds, purchases: purchases, events)
            }
            try #require(ended != nil, "life \(life) does not end")
            phone.disk.restart(powerFails: phone.chance.happens(oneIn: 2))
        }
        let (state, recorded) = (phone.state.withLock(\.self), phone.server.recorded)
        #expect(state.finishedTooEarly == [])
        #expect(state.doubles == 0)
        #expect(state.inFlightMost <= ClientSettings.inFlight)
        for sold in state.sold {
            #expect(sold.isFinished == !sold.isForged, "\(sold.id)")
            #expect(recorded.contains(sold.proof) == !sold.isForged, "\(sold.id)")
            #expect(state.refused.contains(sold.id) == sold.isForged, "\(sold.id)")
            // With its order named or without: other bodies there are none.
            #expect(state.bodies[sold.id]?.count ?? 0 <= 2)
        }
    }

    // MARK: One thing at a time

    /// Runs a client on a quiet phone until the body has returned; or has the body run it.
    static func run(
        _ phone: Phone,
        _ events: Noted = Noted(),
        customer: @escaping @Sendable (StorePurchase) async -> String? = { _ in "anna" },
        transport: Transport? = nil,
        token: @escaping @Sendable (String) async -> String? = { "token of \($0)" },
        isRun: Bool = true,
        atMost seconds: Double = 100_000,
        _ body: @escaping @Sendable (PurchaseClient) async throws -> Void
    ) throws {
        phone.state.withLock { $0.isCalm = true }
        let result = phone.time.run(atMost: seconds) { () async -> Result<Void, any Error> in
            do {
                let client = PurchaseClient(
                    ClientSettings(key: "pk_test", customerToken: token),
                    file: try OutboxFile(PaperDisk.Storage(phone.disk)),
                    transport: transport ?? phone.transport,
                    surroundings: phone.time.surroundings
                ) { events.append($0) }
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    if isRun { group.addTask { await client.run(phone.source, customer: customer) } }
                    defer { group.cancelAll() }
                    try await body(client)
                    return .success(())
                }
            } catch {
                return .failure(error)
            }
        }
        try #require(result, "nothing goes on").get()
    }

    private static func answering(_ status: Int, _ text: String) -> Transport {
        Transport { _ in Transport.Answer(status: status, fields: [:], body: Array(text.utf8)) }
    }

    @Test func thatItIsConfirmedIsSeenStepByStep() throws {
        let (phone, events) = (Phone(seed: 1), Noted())
        let seen = Mutex<[OutboxEntry.State]>([])
        try Self.run(phone, events) { client in
            let sold = phone.sell(isForged: false)
            try await client.submit(sold, customer: "anna", order: "order-1")
            for await state in await client.states(of: sold.id) { seen.withLock { $0.append(state) } }
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            await phone.time.sleep(5)
            #expect(await client.unfinished == [])
        }
        let states = seen.withLock(\.self)
        #expect(states.first == .queued)
        #expect(states.contains(.sending))
        guard case .confirmed = states.last else {
            Issue.record("\(states)")
            return
        }
        #expect(events.all.contains(.finished(purchase: "1")))
    }

    /// Killed between the server's answer and the store's: nothing is sent again, and the store is told.
    @Test func afterAStartWhatIsConfirmedIsOnlyFinished() throws {
        let phone = Phone(seed: 2)
        let sold = phone.sell(isForged: false)
        try Self.run(phone) { client in
            phone.state.withLock { $0.diesBeforeFinishing = true }
            try await client.submit(sold, customer: "anna")
            while !phone.disk.isDead { await phone.time.sleep(1) }
        }
        phone.disk.restart(powerFails: true)
        phone.state.withLock { $0.diesBeforeFinishing = false }
        #expect(phone.unfinished.count == 1)
        let sends = Mutex(0)
        let counted = Transport { _ in
            sends.withLock { $0 += 1 }
            throw URLError(.notConnectedToInternet)
        }
        try Self.run(phone, transport: counted) { client in
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            await phone.time.sleep(5)
            #expect(await client.unfinished == [])
        }
        #expect(sends.withLock(\.self) == 0)
    }

    /// The store was faster than the app, which alone knows the order: the answer to what was sent without it is not the last.
    @Test func anOrderThatIsNamedLateIsSentBeforeAnythingIsFinished() throws {
        let phone = Phone(seed: 10)
        let isNamed = Mutex(false)
        let answered = Mutex<[Bool]>([])
        let transport = Transport { request in
            while !isNamed.withLock(\.self) { await phone.time.sleep(1) }
            let hasOrder = String(decoding: request.body, as: UTF8.self).contains("order-1")
            // Whatever was answered so far must not have finished it.
            #expect(phone.unfinished.count == 1)
            answered.withLock { $0.append(hasOrder) }
            return try await phone.transport.send(request)
        }
        try Self.run(phone, transport: transport) { client in
            let sold = phone.sell(isForged: false)
            await client.wake()
            while await client.unfinished.first?.state != .sending { await phone.time.sleep(1) }
            try await client.submit(sold, customer: "anna", order: "order-1")
            isNamed.withLock { $0 = true }
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(answered.withLock(\.self) == [false, true])
    }

    @Test func whatTheStoreHasNoLongerIsForgotten() throws {
        let phone = Phone(seed: 3)
        let file = try OutboxFile(PaperDisk.Storage(phone.disk))
        var outbox = Outbox()
        for change in [Outbox.Change.queue(OutboxTests.parcel()), OutboxTests.confirmed] {
            outbox.apply(change)
            try file.write(change, leadingTo: outbox)
        }
        try Self.run(phone) { client in
            #expect(await client.unfinished.count == 1)
            while await !client.unfinished.isEmpty { await phone.time.sleep(1) }
        }
    }

    @Test(arguments: [
        (401, #"{"code":"unauthorized"}"#, true), (400, #"{"code":"invalid_request"}"#, true), (404, "", true),
        (503, "", false), (200, "<html>", false), (422, "", true),
    ])
    func whatIsNotThePurchasesFaultIsSaidAndTriedForEver(status: Int, text: String, needsShop: Bool) throws {
        let (phone, events) = (Phone(seed: 4), Noted())
        try Self.run(phone, events, transport: Self.answering(status, text)) { client in
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            // Two days.
            await phone.time.sleep(50_000)
            #expect(await client.unfinished.map(\.state.isDecided) == [false])
            #expect(phone.unfinished.count == 1)
        }
        let troubles = events.all.filter { if case .trouble = $0 { true } else { false } }
        #expect(troubles.count > 10 && troubles.count < 200)
        #expect(troubles.allSatisfy { $0.needsShop == needsShop })
    }

    @Test func aRefusedPurchaseStaysWithTheStoreUntilSomebodyGivesItUp() throws {
        let (phone, events) = (Phone(seed: 5), Noted())
        let verdict = #"{"code":"refused","verdict":"not_yours","reason":"not_for_this_app"}"#
        try Self.run(phone, events, transport: Self.answering(422, verdict)) { client in
            let sold = phone.sell(isForged: false)
            try await client.submit(sold, customer: "anna")
            for await _ in await client.states(of: sold.id) {}
            // The store brings it every hour; it is looked at again each time, and stays refused.
            await phone.time.sleep(20_000)
            let entry = try #require(await client.unfinished.first)
            #expect(entry.isRefused)
            #expect(phone.unfinished.count == 1)
            phone.state.withLock { _ = $0.confirmed.insert(sold.id) }
            await client.giveUp(sold.id)
            #expect(phone.unfinished.isEmpty)
            #expect(await client.unfinished.isEmpty)
        }
        let refusals = events.all.filter { if case .refused = $0 { true } else { false } }
        #expect((2...8).contains(refusals.count))
    }

    @Test func whatTheShopHasMendedIsSentAgain() throws {
        let phone = Phone(seed: 6)
        let isMended = Mutex(false)
        let verdict = #"{"code":"refused","verdict":"forged","reason":"not_authentic"}"#
        let transport = Transport { request in
            guard isMended.withLock(\.self) else {
                return Transport.Answer(status: 422, fields: [:], body: Array(verdict.utf8))
            }
            return try await phone.transport.send(request)
        }
        try Self.run(phone, transport: transport) { client in
            let sold = phone.sell(isForged: false)
            try await client.submit(sold, customer: "anna")
            for await _ in await client.states(of: sold.id) {}
            isMended.withLock { $0 = true }
            await client.sendAgain(sold.id)
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
    }

    /// As many as are sent at once: one more would wait for ever.
    @Test func aStoreThatNeverAnswersStopsNoSending() throws {
        let phone = Phone(seed: 11)
        try Self.run(phone) { client in
            for number in 1...4 {
                let sold = phone.sell(isForged: false)
                if number < 4 { phone.state.withLock { _ = $0.finishesNever.insert(sold.id) } }
                // It returns, whatever becomes of it.
                try await client.submit(sold, customer: "anna")
                for await _ in await client.states(of: sold.id) {}
            }
            while phone.unfinished.count > 3 { await phone.time.sleep(1) }
            #expect(phone.unfinished.map(\.id) == ["1", "2", "3"])
            // The store has taken its time.
            phone.state.withLock { $0.finishesNever = [] }
            while await !client.unfinished.isEmpty { await phone.time.sleep(1) }
        }
    }

    @Test func anAppThatNeverSaysATokenStopsNoSending() throws {
        let (phone, events) = (Phone(seed: 12), Noted())
        let asked = Mutex(0)
        let token: @Sendable (String) async -> String? = { customer in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            while number <= 3, !Task.isCancelled { await phone.time.sleep(10_000) }
            return "token of \(customer)"
        }
        try Self.run(phone, events, token: token) { client in
            for _ in 0..<4 { try await client.submit(phone.sell(isForged: false), customer: "anna") }
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            // The three were asked about anew.
            #expect(phone.time.now < 1_200)
        }
        #expect(asked.withLock(\.self) >= 7)
        let troubles = events.all.filter { if case .trouble = $0 { true } else { false } }
        #expect(troubles.count == 3 && troubles.allSatisfy { !$0.needsShop })
    }

    /// A disk that fills up takes nothing back: the server has the purchase, so the store is told.
    @Test func whatIsConfirmedIsFinishedAlsoOnAFullDisk() throws {
        let isFull = Mutex(false)
        let phone = Phone(seed: 13) { _ in isFull.withLock(\.self) ? .isFull : nil }
        let events = Noted()
        try Self.run(phone, events) { client in
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            isFull.withLock { $0 = true }
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(events.all.contains(.notWritten(.diskFull, purchase: "1")))
        // After the next start the server is asked once more, and says the same.
        isFull.withLock { $0 = false }
        phone.disk.restart(powerFails: true)
        try Self.run(phone) { client in
            while await !client.unfinished.isEmpty { await phone.time.sleep(1) }
        }
    }

    /// What the store brings before anybody has signed in waits there for them.
    @Test func whatIsNobodysIsLeftWithTheStore() throws {
        let (phone, events) = (Phone(seed: 7), Noted())
        let isSignedIn = Mutex(false)
        _ = phone.sell(isForged: false)
        let customer: @Sendable (StorePurchase) -> String? = { _ in isSignedIn.withLock(\.self) ? "anna" : nil }
        try Self.run(phone, events, customer: customer) { client in
            await phone.time.sleep(20)
            #expect(await client.unfinished.isEmpty && phone.unfinished.count == 1)
            isSignedIn.withLock { $0 = true }
            await client.wake()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(events.all.contains(.unclaimed(purchase: "1", accountToken: nil)))
    }

    @Test func whatIsNotOnDiskIsNotSent() throws {
        let isFull = Mutex(false)
        let phone = Phone(seed: 8) { _ in isFull.withLock(\.self) ? .isFull : nil }
        let events = Noted()
        try Self.run(phone, events, customer: { _ in "anna" }) { client in
            await phone.time.sleep(1)
            isFull.withLock { $0 = true }
            let sold = phone.sell(isForged: false)
            await #expect(throws: OutboxFault.diskFull) { try await client.submit(sold, customer: "anna") }
            await phone.time.sleep(10_000)
            #expect(phone.server.recorded == [] && phone.unfinished.count == 1)
            isFull.withLock { $0 = false }
            await client.wake()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(events.all.contains(.notKept(.diskFull, purchase: "1")))
    }

    @Test(arguments: ["", "a b", "ä", "a\n", ".", "..", String(repeating: "a", count: 256)])
    func aNameThatTheServerWouldNotTakeIsRefusedAtOnce(name: String) throws {
        let phone = Phone(seed: 9)
        try Self.run(phone) { client in
            let sold = phone.sell(isForged: false)
            await #expect(throws: OutboxFault.invalidName) { try await client.submit(sold, customer: name) }
            await #expect(throws: OutboxFault.invalidName) {
                try await client.submit(sold, customer: "anna", order: name)
            }
        }
    }

    /// The server's list is ``CustomerID/noNames``.
    @Test func aWordForNothingIsNobodysName() throws {
        let phone = Phone(seed: 9)
        try Self.run(phone) { client in
            let sold = phone.sell(isForged: false)
            for name in CustomerID.noNames.flatMap({ [$0, $0.uppercased()] }) {
                await #expect(throws: OutboxFault.invalidName) { try await client.submit(sold, customer: name) }
            }
            await #expect(throws: Never.self) { try await client.submit(sold, customer: "nulla", order: "null") }
        }
    }
}

/// What a client has told.
final class Noted: Sendable {
    private let events = Mutex<[ClientEvent]>([])

    var all: [ClientEvent] { events.withLock(\.self) }

    func append(_ event: ClientEvent) { events.withLock { $0.append(event) } }
}

extension OutboxEntry {
    var isRefused: Bool { if case .refused = state { true } else { false } }
}
