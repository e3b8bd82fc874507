import PurchaseModel
import Pipeline
import Simulator
import Storage

/// The whole house in one process on one thread: the same seed, the same history.
package enum Simulation {
    /// What became of one seed.
    package struct Run: Sendable {
        package let seed: UInt64
        /// What was wrong first, if anything was.
        package let violation: Violation?
        /// Of everything that happened.
        package let fingerprint: UInt64
        package let steps: Int
        /// The last steps, the newest last.
        package let last: [String]
        /// How much time went by in it.
        package let time: Duration
        /// How much was in it.
        package let transactions: Int
        package let events: Int
        package let processes: Int
    }

    package static func run(seed: UInt64, bug: PlantedBug? = nil) throws -> Run {
        let world = try World(seed: seed, bug: bug)
        let executor = SeededExecutor(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let life = Life(world: world)
        let result = executor.run { await life.run() }
        if result == nil { world.findings.note("everybody comes to an end", "all wait for each other") }
        return Run(
            seed: seed,
            violation: world.findings.first,
            fingerprint: world.chronicle.fingerprint,
            steps: world.chronicle.count,
            last: world.chronicle.last,
            time: Trade.start.duration(to: world.clock.now),
            transactions: result?.transactions ?? 0,
            events: result?.events ?? 0,
            processes: result?.processes ?? 0
        )
    }
}

/// One seed's course: a stormy time, and a calm one in which everything comes to its end.
private struct Life: Sendable {
    struct Sums: Sendable {
        var transactions = 0
        var events = 0
        var processes = 0
    }

    /// How long nobody does anything.
    private static let pauses: [Duration] = [
        .zero, .seconds(1), .seconds(31), .seconds(600), .seconds(3_600), .seconds(40_000), .seconds(86_400),
        .seconds(800_000),
    ]

    let world: World

    func run() async -> Sums {
        do {
            return try await withThrowingDiscardingTaskGroup { group in
                try await prepare()
                // Many short histories find more than few long ones, but not all.
                let rounds = world.dice.happens(oneIn: 8) ? 8 + world.dice.below(13) : 2 + world.dice.below(4)
                for round in 0..<rounds where world.findings.first == nil {
                    for node in try world.fleet.start() { group.addTask { await node.recorder.run() } }
                    await storm()
                    if round % 4 == 1 { try await Audit(of: world).always() }
                }
                world.weather.calmDown()
                for node in try world.fleet.start() { group.addTask { await node.recorder.run() } }
                if world.findings.first == nil { try await settle() }
                defer { world.fleet.end() }
                return try await sums()
            }
        } catch {
            world.findings.note("the simulation itself", "\(error)")
            world.fleet.end()
            return Sums()
        }
    }

    private func prepare() async throws {
        let endpoints = world.shop.endpoints
        try await world.fleet.base.write { transaction throws(StoreFailure) in
            for endpoint in endpoints { try transaction.createEndpoint(endpoint) }
        }
    }

    /// Some do something at once.
    private func storm() async {
        let dice = world.dice
        await withDiscardingTaskGroup { group in
            for _ in 0..<1 + dice.below(6) { group.addTask { await world.doSomething() } }
            if dice.happens(oneIn: 2) {
                for node in world.fleet.nodes { group.addTask { await node.sender.deliverDue() } }
            }
            if dice.happens(oneIn: 2) { group.addTask { await world.deliverNotices() } }
            if dice.happens(oneIn: 3) { group.addTask { await world.acknowledge() } }
            if dice.happens(oneIn: 5), let node = world.fleet.any {
                group.addTask { await node.housekeeping.sweep() }
            }
        }
        if dice.happens(oneIn: 10) { world.fleet.endOne() }
        world.clock.advance(by: dice.pick(Self.pauses))
        world.appStore.catchUp()
    }

    /// Everybody presents what there is, Apple tells what it still has to, and the shop hears everything.
    private func settle() async throws {
        while let next = world.nextNotice {
            world.clock.set(to: max(world.clock.now, next))
            world.appStore.catchUp()
            await world.deliverNotices()
        }
        for customer in world.customers {
            for wish in customer.orders { await customer.place(wish, world) }
            customer.openApp(world)
            while customer.hasUnsent { await customer.present(world) }
        }
        for _ in 0..<2 {
            try await revive()
            await deliver()
            await world.acknowledge()
        }
        await deliver()
        let audit = try await Audit(of: world)
        audit.always()
        audit.afterwards()
    }

    /// An operator has sent again what was given up.
    private func revive() async throws {
        let (endpoints, now) = (world.shop.endpoints.map(\.id), world.clock.now)
        try await world.fleet.base.write { transaction throws(StoreFailure) in
            for id in endpoints {
                guard var endpoint = try transaction.endpoint(id) else { continue }
                let wasDisabled = !endpoint.isEnabled
                if wasDisabled {
                    endpoint.enable(at: now)
                    _ = try transaction.updateEndpoint(endpoint)
                }
                let all = WebhookReplay.learned(from: Trade.start, to: now.advanced(by: .seconds(1)))
                var place: EventCursor? = .start
                let known = try transaction.deliveries(endpoint: id, state: nil, before: nil, limit: 500).deliveries
                guard wasDisabled || known.contains(where: { $0.state == .dead }) else { continue }
                while let from = place {
                    let step = try transaction.replayDeliveries(
                        all,
                        endpoint: id,
                        after: from,
                        limit: WebhookReplayStep.limitMax,
                        at: now
                    )
                    place = step.next
                }
            }
        }
    }

    /// Lets time pass until nothing is left to be delivered: each time longer, for what has failed often waits long, and
    /// what waits for it is due in between.
    private func deliver() async {
        var pause = Duration.seconds(31)
        for _ in 0..<40 {
            for node in world.fleet.nodes { await node.sender.deliverDue() }
            let due = try? await world.fleet.base.read { reader throws(StoreFailure) in try reader.nextDeliveryDue() }
            guard let due else { return }
            world.clock.set(to: max(due, world.clock.now.advanced(by: pause)))
            pause = min(pause * 2, .seconds(86_400))
        }
        let left = (try? await Snapshot.take(of: world))?.deliveries.values.joined().first { $0.state != .delivered }
        world.findings.note(
            "I20 liveness",
            "\(left.map { "\($0.id.endpoint.text) \($0.state) after \($0.attempts) attempts" } ?? "nothing") is left"
        )
    }

    private func sums() async throws -> Sums {
        let snapshot = try await Snapshot.take(of: world)
        return Sums(
            transactions: snapshot.transactions.count,
            events: snapshot.events.count,
            processes: world.fleet.made
        )
    }
}
