import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// The shop that Assay tells of what happened: it checks each message, and keeps what it says.
final class Shop: Sendable {
    /// A message that the shop has understood.
    struct Message: Sendable {
        let endpoint: WebhookEndpointID
        let body: [UInt8]
    }

    private struct State {
        /// By endpoint and message.
        var received: [String: Message] = [:]
        /// The last number of each endpoint's streams.
        var last: [String: Int64] = [:]
        /// Deliveries to acknowledge, with the greatest fence that was heard of.
        var unacknowledged: [String: Int64] = [:]
    }

    static let realms = Set(
        StoreEnvironment.known.flatMap { environment in
            [false, true].map { Realm(environment: environment, isTestSigned: $0) }
        }
    )
    private static let host = "https://shop.example/"
    private let secret: WebhookSecret
    private let weather: Weather
    private let clock: ManualClock
    private let chronicle: Chronicle
    private let findings: Findings
    private let state = Mutex(State())

    /// The first hears everything in each customer's order, the second what is to be delivered, as it comes.
    let endpoints: [WebhookEndpoint]

    /// The shop says itself what it has delivered, unless the 2xx of one endpoint does.
    init(
        acknowledging: Int?,
        weather: Weather,
        clock: ManualClock,
        chronicle: Chronicle,
        findings: Findings
    ) throws {
        self.weather = weather
        self.clock = clock
        self.chronicle = chronicle
        self.findings = findings
        guard let secret = WebhookSecret(Array(repeating: 7, count: 32)) else {
            preconditionFailure("32 bytes are a secret")
        }
        self.secret = secret
        let goods: [EventType] = [.deliveryGranted, .deliveryChanged, .deliveryCompensated, .deliveryRestored]
        endpoints = [nil, Set(goods.map(\.rawValue))].enumerated().map { number, types in
            WebhookEndpoint(
                id: WebhookEndpointID(checked: "whe_\(number)"),
                app: Trade.app,
                url: "\(Self.host)\(number)",
                secrets: [secret],
                filter: EventFilter(types: types, realms: Self.realms),
                concurrencyMax: 4,
                ordersPerCustomer: number == 0,
                acknowledgesBy2xx: number == acknowledging,
                createdAt: clock.now
            )
        }
    }

    /// Receives one message, or does not.
    func receive(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPResponse {
        await Task.yield()
        if weather.strikes(.shopFails) { return HTTPResponse(.internalServerError) }
        take(call)
        await Task.yield()
        if weather.strikes(.shopIsMute) { throw .timedOut }
        return HTTPResponse(.ok)
    }

    /// Where a 2xx is all that the shop says of what it has delivered.
    var acknowledging: WebhookEndpoint? { endpoints.first(where: \.acknowledgesBy2xx) }

    /// Everything that one endpoint has understood, by the message's name.
    func received(at endpoint: WebhookEndpointID) -> [String: [UInt8]] {
        let messages = state.withLock { $0.received }
        return Dictionary(
            uniqueKeysWithValues: messages.filter { $0.value.endpoint == endpoint }.map { name, message in
                (String(name.dropFirst(endpoint.text.count + 1)), message.body)
            }
        )
    }

    /// What the shop, which hears everything at the first endpoint, knows of an event.
    func received(of event: EventRow) -> ShopMessage? {
        let name = "\(endpoints[0].id.text) \(event.id.text)"
        return state.withLock { $0.received[name] }.flatMap { ShopMessage($0.body) }
    }

    /// What the shop has delivered and not acknowledged yet.
    func takeUnacknowledged() -> [(delivery: String, fence: Int64)] {
        state.withLock { state in
            defer { state.unacknowledged = [:] }
            return state.unacknowledged.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        }
    }

    func putBack(_ delivery: String, fence: Int64) {
        state.withLock { $0.unacknowledged[delivery] = max(fence, $0.unacknowledged[delivery] ?? 0) }
    }

    private func take(_ call: HTTPCall) {
        let verifier = WebhookVerifier(secrets: [secret])
        guard let endpoint = endpoints.first(where: { $0.url == call.url }) else {
            return findings.note("I7 effect", "a message to \(call.url)")
        }
        let id: WebhookMessageID
        do throws(WebhookFault) {
            id = try verifier.check(call.fields, body: call.body, at: clock.now)
        } catch {
            return findings.note("I7 effect", "a message is not believed: \(error)")
        }
        let name = "\(endpoint.id.text) \(id)"
        if let known = state.withLock({ $0.received[name] }) {
            if known.body != call.body { findings.note("I7 effect", "\(name) says something else the second time") }
            return
        }
        state.withLock { $0.received[name] = Message(endpoint: endpoint.id, body: call.body) }
        guard let message = ShopMessage(call.body) else { return findings.note("I7 effect", "\(name) is not read") }
        chronicle.note("shop hears \(endpoint.id.text) \(message.type) \(message.stream) \(message.sequence)")
        if endpoint.ordersPerCustomer, message.customer != nil { checkOrder(message, endpoint.id) }
        if acknowledging == nil, endpoint.filter.types == nil, let delivery = message.toDeliver {
            state.withLock { $0.unacknowledged[delivery.id] = max(delivery.fence, $0.unacknowledged[delivery.id] ?? 0) }
        }
    }

    /// Who hears everything in order misses nothing in between.
    private func checkOrder(_ message: ShopMessage, _ endpoint: WebhookEndpointID) {
        let stream = "\(endpoint.text) \(message.stream)"
        let last = state.withLock { state in
            defer { state.last[stream] = message.sequence }
            return state.last[stream] ?? 0
        }
        guard message.sequence != last + 1 else { return }
        findings.note("I12 sequence", "\(stream) hears number \(message.sequence) after \(last)")
    }
}

/// What a shop reads in a message.
struct ShopMessage: Sendable {
    struct Delivery: Sendable {
        let id: String
        let state: String
        let fence: Int64
        let customer: String?
        let goods: String
        let amounts: [String: Int64]
    }

    let type: String
    let stream: String
    let customer: String?
    let sequence: Int64
    let delivery: Delivery?
    let transfer: (chain: String, to: String)?
    let balance: Int64?
    let given: Given?

    init?(_ body: [UInt8]) {
        guard let message = try? JSONDocument(body).root.object, let type = message["type"]?.string,
            let data = message["data"]?.object, let sequence = data["sequence"]?.int64,
            let environment = data["environment"]?.string
        else { return nil }
        self.type = type
        self.sequence = sequence
        customer = data["customer_id"]?.string
        let isTest = data["test_signed"]?.bool == true
        stream = "\(environment)\(isTest ? ".test" : "") \(customer ?? "-")"
        delivery = data["delivery"]?.object.flatMap(Delivery.init)
        transfer = data["transfer"]?.object.flatMap { transfer in
            guard let chain = transfer["original_transaction_id"]?.string, let to = transfer["to"]?.string else {
                return nil
            }
            return (chain, to)
        }
        balance = data["balance"]?.int64
        given = data["granted_entitlement"]?.object.flatMap(Given.init)
    }
}

extension ShopMessage {
    /// What is to be done for the customer by it.
    var toDeliver: Delivery? {
        type.hasPrefix("delivery.") && type != EventType.deliveryAcknowledged.rawValue ? delivery : nil
    }

    /// What a customer was granted by hand, as the shop was told.
    struct Given: Equatable, Sendable {
        let entitlement: String
        let until: String?
        let isRevoked: Bool
        let version: Int64

        init?(_ json: JSONObject) {
            guard let entitlement = json["entitlement"]?.string, let version = json["version"]?.int64 else {
                return nil
            }
            (self.entitlement, self.version) = (entitlement, version)
            until = json["until"]?.string
            isRevoked = json["is_revoked"]?.bool == true
        }
    }
}

extension ShopMessage.Delivery {
    init?(_ json: JSONObject) {
        guard let id = json["delivery_id"]?.string, let state = json["state"]?.string else { return nil }
        self.id = id
        self.state = state
        fence = json["fence"]?.int64 ?? 0
        customer = json["customer_id"]?.string
        let goods = json["goods"]
        self.goods = goods.map { String(decoding: $0.raw, as: UTF8.self) } ?? "[]"
        var amounts: [String: Int64] = [:]
        for good in (goods?.array).map({ $0.compactMap(\.object) }) ?? [] {
            guard let currency = good["currency"]?.string else { continue }
            amounts[currency, default: 0] += (good["amount"]?.int64 ?? 0) - (good["reversed"]?.int64 ?? 0)
        }
        self.amounts = amounts
    }
}
