import Foundation
import PurchaseClient
import Simulation
import Storage
import Synchronization
import Testing

/// An app with the SDK before the real routes: answers are lost, the app is killed, and each purchase is recorded once and
/// finished.
@Suite struct ClientTests {
    /// The app's device: what outlives the app.
    private final class Device: Sendable {
        struct Bought: Sendable {
            let id: String
            let proof: String
            var isFinished = false
            var isConfirmed = false
        }

        private struct State {
            var bought: [Bought] = []
            var uptime = 0.0
            var isKilled = false
            var finishedTooEarly = 0
        }

        let disk = Mutex<[UInt8]>([])
        private let state = Mutex(State())
        let house: ClientHouse
        let dice: Dice

        init(_ house: ClientHouse, _ dice: Dice) {
            self.house = house
            self.dice = dice
        }

        var bought: [Bought] { state.withLock { $0.bought } }
        var isKilled: Bool { state.withLock { $0.isKilled } }
        func kill(_ isKilled: Bool) { state.withLock { $0.isKilled = isKilled } }

        func buy(_ product: String) throws -> StorePurchase {
            let (id, proof) = try house.sell(product)
            let bought = Bought(id: id, proof: proof)
            state.withLock { $0.bought.append(bought) }
            return purchase(bought)
        }

        private func purchase(_ bought: Bought) -> StorePurchase {
            StorePurchase(id: bought.id, proof: bought.proof, accountToken: nil) { [self] in
                state.withLock { state in
                    guard !state.isKilled else { return }
                    for place in state.bought.indices where state.bought[place].id == bought.id {
                        if !state.bought[place].isConfirmed { state.finishedTooEarly += 1 }
                        state.bought[place].isFinished = true
                    }
                }
            }
        }

        var finishedTooEarly: Int { state.withLock { $0.finishedTooEarly } }

        var source: PurchaseSource {
            PurchaseSource(listen: { _ in }, unfinished: { [self] in bought.filter { !$0.isFinished }.map(purchase) })
        }

        /// Time passes by being waited for.
        var surroundings: Surroundings {
            Surroundings(
                now: { Date(timeIntervalSince1970: self.state.withLock { 1_764_590_400 + $0.uptime }) },
                uptime: { self.state.withLock { $0.uptime } },
                sleep: { seconds in
                    // Some turns for the others, whose work takes no time.
                    for _ in 0..<20 { await Task.yield() }
                    self.state.withLock { $0.uptime += seconds }
                },
                chance: { self.dice.next() }
            )
        }

        /// To the server and back; either way something may be lost.
        func transport(isCalm: Bool) -> Transport {
            Transport { [self] request in
                if !isCalm, dice.happens(oneIn: 4) { throw URLError(.notConnectedToInternet) }
                guard !isKilled else { throw URLError(.cancelled) }
                let answer = await house.answer(request)
                if !isCalm, dice.happens(oneIn: 2) { throw URLError(.networkConnectionLost) }
                guard !isKilled else { throw URLError(.cancelled) }
                let text = String(decoding: answer.body, as: UTF8.self)
                if answer.status == 200, request.method == "POST" {
                    state.withLock { state in
                        for place in state.bought.indices where text.contains(state.bought[place].id) {
                            state.bought[place].isConfirmed = true
                        }
                    }
                }
                return answer
            }
        }

        func client(isCalm: Bool) throws -> PurchaseClient {
            let settings = ClientSettings(key: ClientHouse.key) { ClientHouse.token(of: $0) }
            return PurchaseClient(
                settings,
                file: try OutboxFile(DeviceStorage(self)),
                transport: transport(isCalm: isCalm),
                surroundings: surroundings
            ) { _ in }
        }
    }

    /// A disk that keeps everything until the app is killed.
    private final class DeviceStorage: JournalStorage {
        private let device: Device
        private var second: [UInt8] = []

        init(_ device: Device) { self.device = device }

        func read() throws(OutboxFault) -> [UInt8] { device.disk.withLock(\.self) }

        func append(_ bytes: [UInt8]) throws(OutboxFault) {
            if device.isKilled { throw .system(-1) }
            device.disk.withLock { $0 += bytes }
        }

        func synchronize() throws(OutboxFault) {}
        func writeSecond(_ bytes: [UInt8]) throws(OutboxFault) { second = bytes }

        func replaceBySecond() throws(OutboxFault) {
            if device.isKilled { throw .system(-1) }
            device.disk.withLock { $0 = second }
        }

        func synchronizeFolder() throws(OutboxFault) {}
    }

    private static func onOneThread(
        seed: UInt64,
        _ body: @escaping @Sendable (ClientHouse, Dice) async throws -> Void
    ) throws {
        let house = try ClientHouse()
        let result = SeededExecutor(seed: seed).run { () async -> Result<Void, any Error> in
            do {
                return .success(try await house.open { try await body(house, Dice(seed: seed)) })
            } catch {
                return .failure(error)
            }
        }
        try #require(result, "everybody waits for another").get()
    }

    /// Runs a client while the body does something with it.
    private static func running(
        _ device: Device,
        isCalm: Bool,
        _ body: (PurchaseClient) async throws -> Void
    ) async throws {
        let client = try device.client(isCalm: isCalm)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.run(device.source) { _ in "anna" } }
            defer { group.cancelAll() }
            try await body(client)
        }
    }

    @Test(arguments: UInt64(0)..<40)
    func eachPurchaseIsRecordedOnceAndFinished(seed: UInt64) throws {
        try Self.onOneThread(seed: seed) { house, dice in
            let device = Device(house, dice)
            var coins = 0
            for life in 0..<4 {
                let isLast = life == 3
                try await Self.running(device, isCalm: isLast) { client in
                    for _ in 0..<(isLast ? 1 : 1 + dice.below(3)) {
                        let sold = try device.buy("coins.100")
                        coins += 100
                        // The app may end before it has heard of what was bought.
                        if !dice.happens(oneIn: 4) { try await client.submit(sold, customer: "anna") }
                    }
                    if isLast {
                        await client.wake()
                        while device.bought.contains(where: { !$0.isFinished }) { await Task.yield() }
                    } else {
                        for _ in 0..<dice.below(3_000) { await Task.yield() }
                        device.kill(true)
                    }
                }
                device.kill(false)
            }
            #expect(device.finishedTooEarly == 0)
            let listed = String(decoding: await house.get("/v1/customers/anna/transactions"), as: UTF8.self)
            for bought in device.bought {
                #expect(listed.components(separatedBy: "\"transaction_id\":\"\(bought.id)\"").count == 2)
            }
            let balances = String(decoding: await house.get("/v1/customers/anna/balances"), as: UTF8.self)
            #expect(balances.contains("\"balance\":\(coins),"), "\(balances)")
        }
    }

    @Test func whatWasBoughtIsShownByTheServersWord() throws {
        try Self.onOneThread(seed: 1) { house, dice in
            let device = Device(house, dice)
            try await Self.running(device, isCalm: true) { client in
                #expect(try await client.entitlements(of: "anna") == [])
                let sold = try device.buy("pro.monthly")
                try await client.submit(sold, customer: "anna")
                var last: OutboxEntry.State?
                for await state in await client.states(of: sold.id) { last = state }
                guard case .confirmed(let confirmation) = last else {
                    Issue.record("\(String(describing: last))")
                    return
                }
                #expect(confirmation.decision == .recorded)
                // The second answer is "as it was".
                for _ in 0..<2 {
                    let found = try await client.entitlements(of: "anna")
                    #expect(found.map(\.name) == ["pro"])
                    #expect(found.first?.transactionID == sold.id)
                    #expect(found.first?.isTestSigned == true)
                    #expect(found.first?.until.map { $0 > Date(timeIntervalSince1970: 1_764_590_400) } == true)
                }
                await #expect(throws: Trouble.self) { try await client.entitlements(of: "a/../b c") }
            }
        }
    }

    /// A number proves nothing: the server keeps it, and whoever looks into the matter decides.
    @Test(arguments: [("forged", "refused"), ("genuine", "nothing_to_record")])
    func whatIsPendingIsAskedAboutUntilItIsDecided(verdict: String, outcome: String) throws {
        try Self.onOneThread(seed: 2) { house, dice in
            let device = Device(house, dice)
            try await Self.running(device, isCalm: true) { client in
                let number = StorePurchase(id: "170000029449420", proof: "170000029449420", accountToken: nil) {}
                try await client.submit(number, customer: "anna")
                var last: OutboxEntry.State?
                for await state in await client.states(of: number.id) {
                    last = state
                    guard case .pending(let name) = state else { continue }
                    let store = house.store
                    let now = house.now
                    _ = try await store.write { write throws(StoreFailure) in
                        for kept in try write.pendingSubmissions(app: ClientHouse.app, after: nil, limit: 9).submissions
                        {
                            _ = try write.settlePending(kept.id, as: Settlement(verdict: verdict, at: now))
                        }
                    }
                    #expect(name.utf8.count == 32)
                }
                guard case .refused(let refusal) = last else {
                    Issue.record("\(String(describing: last))")
                    return
                }
                #expect(outcome == "refused" ? refusal.verdict == verdict : refusal.verdict == outcome)
            }
        }
    }

    /// The key is everybody's: without its token a customer is not believed, and the purchase waits for one.
    @Test func aForgeryIsRefusedAndAStrangerIsNotBelieved() throws {
        try Self.onOneThread(seed: 3) { house, dice in
            let device = Device(house, dice)
            try await Self.running(device, isCalm: true) { client in
                let (id, proof) = try house.sell("coins.100")
                let bytes = Array(proof.utf8)
                let forged = String(decoding: bytes.dropLast(20), as: UTF8.self) + "AAAAAAAAAAAAAAAAAAAA"
                try await client.submit(
                    StorePurchase(id: id, proof: forged, accountToken: nil) { Issue.record("finished") },
                    customer: "anna"
                )
                for await _ in await client.states(of: id) {}
                guard case .refused(let refusal) = await client.unfinished.first?.state else {
                    Issue.record("not refused")
                    return
                }
                #expect(refusal.doubtsProof && refusal.reason == "not_authentic")
            }
            let settings = ClientSettings(key: ClientHouse.key)
            let troubles = Mutex<[ClientEvent]>([])
            let stranger = PurchaseClient(
                settings,
                file: try OutboxFile(DeviceStorage(Device(house, dice))),
                transport: device.transport(isCalm: true),
                surroundings: device.surroundings
            ) { event in troubles.withLock { $0.append(event) } }
            let sold = try device.buy("coins.100")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await stranger.run(device.source) { _ in "anna" } }
                defer { group.cancelAll() }
                try await stranger.submit(sold, customer: "anna")
                while troubles.withLock(\.count) < 3 { await Task.yield() }
                #expect(await stranger.unfinished.map(\.state.isDecided) == [false])
            }
            let trouble = Trouble.keyRefused(status: 403, code: "customer_token_invalid")
            #expect(troubles.withLock(\.first) == .trouble(trouble, purchase: sold.id))
            #expect(device.bought.allSatisfy { !$0.isFinished })
        }
    }
}
