import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What a shop says of an endpoint: all of it when it is made, some of it when it is changed.
struct WebhookRequest {
    private static let members: Set<String> = [
        "url", "types", "environments", "include_test_signed", "order_per_customer", "acknowledge_by_2xx",
        "concurrency", "per_second", "is_enabled", "asymmetric", "missed",
    ]
    private static let concurrencyUsual: Int64 = 8
    private static let concurrencyMax: Int64 = 64

    private let body: RequestBody
    private let rule: EgressRule

    init(_ bytes: [UInt8], _ rule: EgressRule) throws(RequestBody.Fault) {
        body = try RequestBody(bytes, members: WebhookRequest.members)
        self.rule = rule
    }

    /// A new endpoint, with a secret of its own.
    func endpoint(
        app: AppID,
        id: WebhookEndpointID,
        at now: Timestamp,
        after last: EventCursor
    ) throws(RequestBody.Fault) -> WebhookEndpoint {
        if body.has("missed") { throw RequestBody.Fault(field: "missed", detail: "A new webhook has missed nothing.") }
        let isTest = try body.bool("include_test_signed") ?? false
        var endpoint = WebhookEndpoint(
            id: id,
            app: app,
            url: try RequestBody.needed(url(), "url"),
            secrets: [WebhookSecret.generate()],
            filter: EventFilter(
                types: try types(),
                realms: WebhookRequest.realms(try environments() ?? [.production], isTest)
            ),
            concurrencyMax: Int(try concurrency() ?? WebhookRequest.concurrencyUsual),
            perSecondMax: try body.whole("per_second", 1...100_000).map(Int.init),
            ordersPerCustomer: try body.bool("order_per_customer") ?? false,
            acknowledgesBy2xx: try body.bool("acknowledge_by_2xx") ?? false,
            createdAt: now
        )
        endpoint.setAsymmetric(try body.bool("asymmetric") ?? false)
        if try body.bool("is_enabled") == false { endpoint.disable(because: nil, at: now, after: last) }
        return endpoint
    }

    /// Changes of an endpoint what is said of it.
    ///
    /// - Throws: what is wrong with what is said.
    func change(
        _ endpoint: inout WebhookEndpoint,
        at now: Timestamp,
        after last: EventCursor
    ) throws(RequestBody.Fault) {
        if let url = try url() { endpoint.url = url }
        if body["types"] != nil { endpoint.filter.types = try types() }
        let wasTest = endpoint.filter.realms.contains(where: \.isTestSigned)
        let isTest = try body.bool("include_test_signed") ?? wasTest
        let environments = try environments() ?? Set(endpoint.filter.realms.map(\.environment))
        endpoint.filter.realms = WebhookRequest.realms(environments, isTest)
        if let most = try concurrency() { endpoint.concurrencyMax = Int(most) }
        // Null lifts it: there is no number for that.
        if body.has("per_second") { endpoint.perSecondMax = try body.whole("per_second", 1...100_000).map(Int.init) }
        if let isOrdered = try body.bool("order_per_customer") { endpoint.ordersPerCustomer = isOrdered }
        if let isEnough = try body.bool("acknowledge_by_2xx") { endpoint.acknowledgesBy2xx = isEnough }
        if let isAsymmetric = try body.bool("asymmetric") { endpoint.setAsymmetric(isAsymmetric) }
        if let isEnabled = try body.bool("is_enabled") { endpoint.setEnabled(isEnabled, at: now, after: last) }
        if body["missed"] != nil {
            throw RequestBody.Fault(field: "missed", detail: "null puts it aside; a replay has it sent.")
        }
        if body.has("missed") { endpoint.putMissedAside() }
    }

    private func url() throws(RequestBody.Fault) -> String? {
        guard let url = try body.text("url") else { return nil }
        do throws(EgressURLFault) { try rule.check(url: url) } catch {
            throw RequestBody.Fault(
                field: "url",
                detail: "An https URL without user and fragment is needed (\(error.rawValue))."
            )
        }
        return url
    }

    private func concurrency() throws(RequestBody.Fault) -> Int64? {
        try body.whole("concurrency", 1...WebhookRequest.concurrencyMax)
    }

    private func types() throws(RequestBody.Fault) -> Set<String>? {
        guard let named = try texts("types") else { return nil }
        let values = Set(named)
        let known = Set(EventType.allCases.map(\.rawValue))
        // As many as the description allows, repeated or not.
        guard named.count <= EventFilter.typesMax, values.isSubset(of: known) else {
            throw RequestBody.Fault(
                field: "types",
                detail: "At most \(EventFilter.typesMax) types of the catalogue of events are needed, or none for all."
            )
        }
        return values.isEmpty ? nil : values
    }

    private func environments() throws(RequestBody.Fault) -> Set<StoreEnvironment>? {
        guard let values = try texts("environments") else { return nil }
        let environments = Set(values.map(StoreEnvironment.init(rawValue:)))
        guard !environments.isEmpty, environments.isSubset(of: StoreEnvironment.known) else {
            throw RequestBody.Fault(field: "environments", detail: "Stores such as production or sandbox are needed.")
        }
        return environments
    }

    private func texts(_ field: String) throws(RequestBody.Fault) -> [String]? {
        guard let value = body[field] else { return nil }
        guard let array = value.array else { throw RequestBody.Fault(field: field, detail: "An array is needed.") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else {
                throw RequestBody.Fault(field: field, detail: "An array of strings is needed.")
            }
            texts.append(text)
        }
        return texts
    }

    private static func realms(_ environments: Set<StoreEnvironment>, _ includesTests: Bool) -> Set<Realm> {
        Set(
            environments.flatMap { environment in
                (includesTests ? [false, true] : [false]).map { Realm(environment: environment, isTestSigned: $0) }
            }
        )
    }
}
