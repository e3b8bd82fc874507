import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// The processes over one store. One that has ended is replaced when somebody sees to it.
final class Fleet: Sendable {
    let base = MemoryStore()
    let size: Int
    private let dice: Dice
    private let weather: Weather
    private let chronicle: Chronicle
    private let bug: PlantedBug?
    private let policy: AppPolicy
    private let clock: ManualClock
    private let shop: Shop
    private let state = Mutex(State())

    private struct State {
        var nodes: [Node] = []
        var made = 0
    }

    init(
        policy: AppPolicy,
        shop: Shop,
        clock: ManualClock,
        weather: Weather,
        chronicle: Chronicle,
        dice: Dice,
        bug: PlantedBug?
    ) {
        self.policy = policy
        self.shop = shop
        self.clock = clock
        self.weather = weather
        self.chronicle = chronicle
        self.dice = dice
        self.bug = bug
        size = 1 + dice.below(2)
    }

    /// How many were ever started.
    var made: Int { state.withLock { $0.made } }

    var nodes: [Node] { state.withLock { $0.nodes } }

    /// One that runs.
    var any: Node? {
        let running = nodes.filter { !$0.isDead }
        return running.isEmpty ? nil : dice.pick(running)
    }

    /// Starts what is missing.
    ///
    /// - Returns: those that were started, for somebody to run their recorders.
    func start() throws -> [Node] {
        for node in nodes where node.isDead { node.end() }
        var started: [Node] = []
        while nodes.count(where: { !$0.isDead }) < size {
            let number = state.withLock { state in
                state.made += 1
                return state.made
            }
            let disk = Disk(over: base, dice: dice, weather: weather, chronicle: chronicle, bug: bug)
            let node = try Node(number, disk: disk, policy: policy, clock: clock, shop: line(to: shop, from: disk))
            started.append(node)
            state.withLock { state in
                state.nodes.removeAll(where: \.isDead)
                state.nodes.append(node)
            }
            chronicle.note("process \(number) starts")
        }
        return started
    }

    func end() {
        for node in nodes { node.end() }
    }

    /// Ends one as an operator does, or a machine.
    func endOne() {
        guard let node = any else { return }
        chronicle.note("process \(node.number) ends")
        node.end()
    }

    /// A process that has ended sends nothing, and hears no answer.
    private func line(to shop: Shop, from disk: Disk) -> HTTPCaller {
        HTTPCaller { call async throws(HTTPCallFailure) in
            guard !disk.isCut else { throw .connectionLost }
            let answer = try await shop.receive(call)
            guard !disk.isCut else { throw .connectionLost }
            return answer
        }
    }

    /// Asks some process; nil when no answer arrives.
    func ask(_ request: HTTPRequest, for who: String) async -> HTTPResponse? {
        let title = "\(who) \(request.method.rawValue) \(request.path)"
        if weather.strikes(.requestLost) {
            chronicle.note("\(title) is lost")
            return nil
        }
        guard let node = any, let response = await node.respond(to: request), !weather.strikes(.answerLost) else {
            chronicle.note("\(title) has no answer")
            return nil
        }
        chronicle.note("\(title) has \(response.status.rawValue)")
        return response
    }
}
