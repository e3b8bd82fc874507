import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage

/// Everything of one seed: the processes and what outlives them, the App Store, the customers, the shop.
final class World: Sendable {
    let dice: Dice
    let weather: Weather
    let chronicle = Chronicle()
    let findings = Findings()
    let witness = Witness()
    let clock = ManualClock(Trade.start)
    let terms: AppTerms
    let appStore: AppStore
    let shop: Shop
    let fleet: Fleet
    let customers: [Customer]
    private let notices: NoticeSender

    init(seed: UInt64, bug: PlantedBug?) throws {
        dice = Dice(seed: seed)
        weather = Weather(dice: dice)
        terms = Trade.terms(dice)
        customers = (0..<2 + dice.below(4)).map { number in
            Customer("customer-\(number)", number % 4 == 3 ? .sandbox : .production)
        }
        let hasFamily = dice.happens(oneIn: 3)
        let accounts = customers.enumerated().map { number, customer in
            var account = StoreCustomer(name: customer.name, environment: customer.environment)
            account.family = hasFamily && number < 2 ? "family" : nil
            return account
        }
        let isTold = dice.happens(oneIn: 2)
        appStore = try AppStore(customers: accounts, isTold: isTold, clock: clock, seed: seed)
        shop = try Shop(
            acknowledging: dice.pick([nil, nil, 0, 1]),
            weather: weather,
            clock: clock,
            chronicle: chronicle,
            findings: findings
        )
        fleet = Fleet(
            policy: Trade.policy(terms),
            shop: shop,
            clock: clock,
            weather: weather,
            chronicle: chronicle,
            dice: dice,
            bug: bug
        )
        notices = try NoticeSender(
            appStore.simulator,
            caller: World.door(fleet, weather, chronicle, witness),
            disturbance: { [dice, weather] _, attempt in
                weather.isCalm ? .none : World.disturbance(dice, attempt)
            }
        )
    }

    /// What Apple has to tell and is due.
    func deliverNotices() async { await notices.deliverDue() }

    /// When Apple tries again next.
    var nextNotice: Timestamp? { notices.nextAttemptAt }

    private static func disturbance(_ dice: Dice, _ attempt: Int) -> Disturbance {
        var disturbance = Disturbance()
        disturbance.copies = dice.happens(oneIn: 5) ? 2 : 1
        disturbance.rank = dice.below(3)
        if dice.happens(oneIn: 4) { disturbance.delay = .seconds(dice.below(200_000)) }
        if dice.happens(oneIn: 8) { disturbance.loss = attempt == 1 && dice.happens(oneIn: 3) ? .message : .attempt }
        return disturbance
    }

    /// Where Apple's notifications arrive.
    private static func door(
        _ fleet: Fleet,
        _ weather: Weather,
        _ chronicle: Chronicle,
        _ witness: Witness
    ) -> HTTPCaller {
        HTTPCaller { call async throws(HTTPCallFailure) in
            guard let text = (try? JSONDocument(call.body))?.root.object?["signedPayload"]?.string else {
                throw .invalidCall
            }
            guard let recorded = await fleet.any?.take(notification: text), !weather.strikes(.answerLost) else {
                chronicle.note("a notification has no answer")
                throw .timedOut
            }
            for row in recorded {
                chronicle.note("a notification of \(row.id) is recorded")
                witness.note { $0.told[row.key, default: []].append(row.transaction.signedAt) }
            }
            return HTTPResponse(.ok)
        }
    }

    // MARK: Requests

    /// - Returns: nil when there is no answer, or one that says to try again.
    func ask(_ request: HTTPRequest, for who: String) async -> HTTPResponse? {
        guard let response = await fleet.ask(request, for: who) else { return nil }
        switch response.status.rawValue {
        case 503: return nil
        case 500...:
            findings.note("no failure of our own", "\(request.path) has \(response.status.rawValue)")
            return nil
        default: return response
        }
    }

    func get(_ path: String, query: String? = nil, for who: String) async -> HTTPResponse? {
        let fields: HTTPFields = ["Authorization": "Bearer \(Trade.key)"]
        return await ask(HTTPRequest(method: .get, path: path, query: query, fields: fields), for: who)
    }

    func post(_ path: String, _ body: [UInt8], for who: String) async -> HTTPResponse? {
        let fields: HTTPFields = ["Authorization": "Bearer \(Trade.key)", "Content-Type": "application/json"]
        return await ask(HTTPRequest(method: .post, path: path, fields: fields, body: body), for: who)
    }

    /// A change under a key, again until there is an answer or patience ends. The same request under the same key has
    /// the same answer for ever.
    func change(_ path: String, _ body: [UInt8], key: String, for who: String) async -> HTTPResponse? {
        var fields: HTTPFields = ["Authorization": "Bearer \(Trade.key)", "Content-Type": "application/json"]
        fields["Idempotency-Key"] = key
        let request = HTTPRequest(method: .post, path: path, fields: fields, body: body)
        witness.ask(under: key, at: clock.now)
        for _ in 0..<patience {
            guard let response = await ask(request, for: who) else { continue }
            let answer = Witness.Answer(status: response.status.rawValue, body: response.body)
            findings.expect(
                witness.note(answer, under: key, at: clock.now),
                "I13 idempotency",
                "\(key) has another answer now"
            )
            return response
        }
        return nil
    }

    /// How often somebody tries before doing something else first.
    var patience: Int { weather.isCalm ? 10 : 1 + dice.below(3) }
}
