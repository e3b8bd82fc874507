import PurchaseModel
import Storage

/// Events, endpoints and jobs that tests are about nothing in particular of.
enum OutboxSamples {
    static let sandbox = Realm(environment: .sandbox, isTestSigned: false)

    static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    static func event(
        _ name: String,
        _ sequence: Int64,
        app: String = "game",
        customer: String? = "ann",
        realm: Realm = Samples.production,
        type: String = "purchase.verified",
        learnedAt: Int64 = 0,
        data: String = "{}"
    ) throws -> EventRow {
        EventRow(
            id: try eventID(name),
            app: try Samples.app(app),
            realm: realm,
            customer: try customer.map { try Samples.customer($0) },
            sequence: sequence,
            type: type,
            happenedAt: at(learnedAt - 5),
            learnedAt: at(learnedAt),
            data: Array(data.utf8)
        )
    }

    static func endpoint(
        _ name: String,
        app: String = "game",
        types: Set<String>? = nil,
        realms: Set<Realm> = [Samples.production],
        concurrencyMax: Int = 100,
        isOrdered: Bool = false,
        isEnabled: Bool = true
    ) throws -> WebhookEndpoint {
        WebhookEndpoint(
            id: try endpointID(name),
            app: try Samples.app(app),
            url: "https://shop.example/hook?to=\(name)",
            secrets: [try secret(7), try secret(8)],
            signingKey: try secret(9),
            filter: EventFilter(types: types, realms: realms),
            concurrencyMax: concurrencyMax,
            perSecondMax: 50,
            ordersPerCustomer: isOrdered,
            acknowledgesBy2xx: !isOrdered,
            isEnabled: isEnabled,
            createdAt: at(1)
        )
    }

    static func job(
        _ name: String,
        kind: String = "mail",
        due: Int64 = 0,
        key: String? = nil,
        payload: [UInt8] = [1, 0, 255]
    ) throws -> NewJob {
        NewJob(id: try jobID(name), kind: kind, payload: payload, due: at(due), key: key, createdAt: at(due))
    }

    static func answer(_ key: String, holder: String = "shop", keptAt: Int64 = 0) -> KeptAnswer {
        KeptAnswer(
            name: IdempotencyName(holder: holder, key: key),
            fingerprint: [UInt8](repeating: 1, count: 32),
            status: 201,
            contentType: "application/json",
            body: Array("{\"id\":\"\(key)\"}".utf8),
            keptAt: at(keptAt)
        )
    }

    static func attempt(_ number: Int64, status: Int? = 200) -> WebhookAttempt {
        WebhookAttempt(
            number: number,
            beganAt: at(number),
            milliseconds: 12,
            status: status,
            failure: status == nil ? "unreachable" : nil,
            address: "192.0.2.1",
            answer: Array("ok".utf8)
        )
    }

    static func terms(_ owner: String, at now: Int64, seconds: Int64 = 10) throws -> LeaseTerms {
        LeaseTerms(owner: try sample(LeaseOwner(owner)), duration: .seconds(seconds), now: at(now))
    }

    static func eventID(_ name: String) throws -> EventID { try sample(EventID("evt_" + name)) }
    static func endpointID(_ name: String) throws -> WebhookEndpointID {
        try sample(WebhookEndpointID("whe_" + name))
    }
    static func jobID(_ name: String) throws -> JobID { try sample(JobID("job_" + name)) }
    static func secret(_ byte: UInt8) throws -> WebhookSecret {
        try sample(WebhookSecret([UInt8](repeating: byte, count: 32)))
    }

    private struct BadSample: Error {}

    private static func sample<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw BadSample() }
        return value
    }
}

extension Store {
    /// Claims deliveries, in a write of its own.
    func claim(_ endpoint: String, _ terms: LeaseTerms, limit: Int = 100) async throws -> [ClaimedDelivery] {
        let id = try OutboxSamples.endpointID(endpoint)
        return try await write { transaction throws(StoreFailure) in
            try transaction.claimDeliveries(endpoint: id, limit: limit, terms: terms)?.deliveries ?? []
        }
    }

    func finish(
        _ hold: DeliveryHold,
        _ outcome: DeliveryOutcome,
        at now: Int64,
        attempt: WebhookAttempt? = nil
    ) async throws -> Bool {
        try await write { transaction throws(StoreFailure) in
            let finished = FinishedDelivery(hold, as: outcome, attempt: attempt)
            return try transaction.finishDeliveries([finished], at: OutboxSamples.at(now)) == [true]
        }
    }

    func append(_ events: [EventRow]) async throws {
        try await write { transaction throws(StoreFailure) in try transaction.append(events) }
    }

    func create(_ endpoints: WebhookEndpoint...) async throws {
        try await write { transaction throws(StoreFailure) in
            for endpoint in endpoints { try transaction.createEndpoint(endpoint) }
        }
    }

    func add(_ job: NewJob) async throws {
        _ = try await write { transaction throws(StoreFailure) in try transaction.enqueue(job) }
    }

    func jobs(_ selection: JobSelection, _ owner: String, at now: Int64) async throws -> JobClaim {
        let terms = try OutboxSamples.terms(owner, at: now)
        return try await write { transaction throws(StoreFailure) in
            try transaction.claimJobs(kinds: ["mail", "print"], selection, terms: terms)
        }
    }

    func renew(_ holds: [JobHold], _ owner: String, at now: Int64) async throws -> [JobHold] {
        let terms = try OutboxSamples.terms(owner, at: now)
        return try await write { transaction throws(StoreFailure) in try transaction.renewJobs(holds, terms: terms) }
    }

    func finish(_ finished: [FinishedJob], at now: Int64) async throws -> [Bool] {
        try await write { transaction throws(StoreFailure) in
            try transaction.finishJobs(finished, at: OutboxSamples.at(now))
        }
    }
}
