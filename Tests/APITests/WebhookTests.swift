import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing
import TestSupport

/// The endpoints of an app over the API. What is sent to them is the sender's, and tested there.
@Suite struct WebhookTests {
    private static let body = #"{"url": "https://shop.example/hooks", "types": ["order.placed"]}"#

    private static func make(_ house: TestHouse, _ body: String = body) async throws -> String {
        let answer = await house.change("/v1/webhooks", body)
        #expect(answer.status == .created)
        return try #require(try answer.json()["webhook_id"]?.string)
    }

    @Test func anEndpointsSecretIsShownOnceAndAtEachRotation() async throws {
        try await TestHouse().open { house in
            let made = await house.change("/v1/webhooks", Self.body)
            let secret = try #require(try made.json()["secret"]?.string)
            #expect(secret.hasPrefix("whsec_"))
            let id = try #require(try made.json()["webhook_id"]?.string)
            let shown = await house.get("/v1/webhooks/\(id)")
            #expect(try shown.json()["secret"] == nil)
            #expect(!String(decoding: shown.body, as: UTF8.self).contains("whsec_"))
            let rotated = await house.change("/v1/webhooks/\(id)/rotate")
            #expect(try rotated.json()["secrets_in_use"]?.int64 == 2)
            #expect(try rotated.json()["secret"]?.string != secret)
            // Some clients always send an object.
            let byObject = await house.change("/v1/webhooks/\(id)/rotate", "{}")
            #expect(try byObject.json()["secrets_in_use"]?.int64 == 3)
            #expect(try byObject.json()["secret"]?.string != rotated.json()["secret"]?.string)
            let kept = await house.change("/v1/webhooks/\(id)/rotate", #"{"keep": 1}"#)
            #expect(try kept.json()["secrets_in_use"]?.int64 == 1)
            #expect(await house.change("/v1/webhooks/\(id)/rotate", #"{"keep": 0}"#).status == .badRequest)
        }
    }

    /// The same request again gets the same answer, but for the secret: it would have to be kept with it.
    @Test func aRepeatedRequestShowsNoSecret() async throws {
        try await TestHouse().open { house in
            let made = try await house.change("/v1/webhooks", Self.body, idempotencyKey: "make").json()
            let id = try #require(made["webhook_id"]?.string)
            let madeAgain = await house.change("/v1/webhooks", Self.body, idempotencyKey: "make")
            #expect(made["secret"] != nil && madeAgain.status == .created)
            #expect(madeAgain.fields["Idempotent-Replayed"] == "true")
            #expect(try madeAgain.json()["webhook_id"]?.string == id)

            let rotated = try await house.change("/v1/webhooks/\(id)/rotate", idempotencyKey: "turn").json()
            let rotatedAgain = await house.change("/v1/webhooks/\(id)/rotate", idempotencyKey: "turn")
            #expect(rotated["secret"] != nil && rotatedAgain.status == .ok)
            #expect(try rotatedAgain.json()["secrets_in_use"]?.int64 == 2)
            for again in [madeAgain, rotatedAgain] {
                #expect(!String(decoding: again.body, as: UTF8.self).contains("whsec_"))
            }
        }
    }

    /// What checks messages is shown, and what signs them never.
    @Test func messagesAreSignedByAPrivateKeyWhereThatIsWished() async throws {
        try await TestHouse().open { house in
            let plain = try await Self.make(house)
            #expect(try await house.get("/v1/webhooks/\(plain)").json()["public_key"] == nil)
            let body = #"{"url": "https://shop.example/hooks", "asymmetric": true}"#
            let made = await house.change("/v1/webhooks", body)
            let key = try #require(try made.json()["public_key"]?.string)
            #expect(WebhookVerifyingKey(key) != nil && !String(decoding: made.body, as: UTF8.self).contains("whsk_"))
            let id = try #require(try made.json()["webhook_id"]?.string)
            let kept = await house.change("/v1/webhooks/\(id)", #"{"asymmetric": true, "per_second": 5}"#)
            #expect(try kept.json()["public_key"]?.string == key)
            let endpoint = try #require(
                try await house.store.read { reader throws(StoreFailure) in
                    try WebhookEndpointID(id).flatMap { id throws(StoreFailure) in try reader.endpoint(id) }
                }
            )
            #expect(endpoint.publicKey?.text == key)
            let ended = await house.change("/v1/webhooks/\(id)", #"{"asymmetric": false}"#)
            #expect(try ended.json()["public_key"] == nil)
            let anew = await house.change("/v1/webhooks/\(id)", #"{"asymmetric": true}"#)
            #expect(try anew.json()["public_key"]?.string != key)
        }
    }

    @Test func whatIsSaidIsChangedAndTheRestStays() async throws {
        try await TestHouse().open { house in
            let id = try await Self.make(house)
            let changed = await house.change(
                "/v1/webhooks/\(id)",
                #"{"environments": ["sandbox"], "include_test_signed": true, "per_second": 5, "is_enabled": false}"#
            )
            let json = try changed.json()
            #expect(json["url"]?.string == "https://shop.example/hooks")
            #expect(json["types"]?.array?.compactMap(\.string) == ["order.placed"])
            #expect(json["environments"]?.array?.compactMap(\.string) == ["sandbox"])
            #expect(json["include_test_signed"]?.bool == true)
            #expect(json["per_second"]?.int64 == 5)
            #expect(json["disabled_reason"]?.string == "by_request")
            #expect(json["disabled_at"]?.string == TransactionJSON.text(TestHouse.now))
            let all = await house.change("/v1/webhooks/\(id)", #"{"types": [], "is_enabled": true}"#)
            #expect(try all.json()["types"] == nil)
            #expect(try all.json()["disabled_reason"] == nil && all.json()["disabled_at"] == nil)
            #expect(try all.json()["per_second"]?.int64 == 5 && all.json()["missed"] != nil)
            let again = await house.change("/v1/webhooks/\(id)", #"{"is_enabled": true}"#)
            #expect(try again.json()["missed"]?.raw == (try all.json()["missed"]?.raw))
            let lifted = await house.change("/v1/webhooks/\(id)", #"{"per_second": null}"#)
            #expect(try lifted.json()["per_second"] == nil)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["per_second"] == nil)
        }
    }

    /// What is told of an endpoint that is enabled again is, as it stands, the body of the replay that makes good for it.
    @Test(arguments: ["changed", "made so"])
    func whatHappenedWhileItWasDisabledIsToldAndReplayed(how: String) async throws {
        try await TestHouse().open { house in
            let id: String
            if how == "changed" {
                id = try await Self.make(house)
                _ = await house.change("/v1/webhooks/\(id)", #"{"is_enabled": false}"#)
            } else {
                id = try await Self.make(house, #"{"url": "https://shop.example/", "is_enabled": false}"#)
            }
            let shown = try await house.get("/v1/webhooks").json()["webhooks"]?.array?.first { _ in true }?.object
            #expect(shown?["disabled_at"]?.string == TransactionJSON.text(TestHouse.now))
            for number in 1...3 {
                let order = #"{"order_id": "o-\#(number)", "customer_id": "ann", "product_id": "coins"}"#
                #expect(await house.change("/v1/orders", order).status == .created)
            }
            #expect(try await house.get("/v1/webhooks/\(id)").json()["backlog"]?.int64 == 0)
            let enabled = try await house.change("/v1/webhooks/\(id)", #"{"is_enabled": true}"#).json()
            let missed = try #require(enabled["missed"]?.raw)
            // The answer may have been lost: it is told again, and shown, until it was sent.
            let again = try await house.change("/v1/webhooks/\(id)", #"{"is_enabled": true}"#).json()
            #expect(again["missed"]?.raw == missed)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["missed"]?.raw == missed)
            let replayed = await house.change("/v1/webhooks/\(id)/replay", String(decoding: missed, as: UTF8.self))
            #expect(try replayed.json()["replayed"]?.int64 == 3)
            let sent = try await house.get("/v1/webhooks/\(id)").json()
            #expect(sent["backlog"]?.int64 == 3 && sent["missed"] == nil)
        }
    }

    /// Who has it from elsewhere, or does without, is not offered it for ever.
    @Test func whatWasMissedIsPutAside() async throws {
        try await TestHouse().open { house in
            let id = try await Self.make(house)
            _ = await house.change("/v1/webhooks/\(id)", #"{"is_enabled": false}"#)
            let missed = try await house.change("/v1/webhooks/\(id)", #"{"is_enabled": true}"#).json()["missed"]
            let again = #"{"missed": \#(String(decoding: try #require(missed).raw, as: UTF8.self))}"#
            for body in [again, #"{"missed": false}"#] {
                let refused = await house.change("/v1/webhooks/\(id)", body)
                #expect(refused.status == .badRequest)
                #expect(try refused.json()["field"]?.string == "missed")
            }
            #expect(try await house.get("/v1/webhooks/\(id)").json()["missed"]?.raw == missed?.raw)
            let answer = await house.change("/v1/webhooks/\(id)", #"{"missed": null}"#)
            #expect(try answer.status == .ok && answer.json()["missed"] == nil)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["missed"] == nil)
            // In one request: enabled, and without it.
            _ = await house.change("/v1/webhooks/\(id)", #"{"is_enabled": false}"#)
            let both = await house.change("/v1/webhooks/\(id)", #"{"is_enabled": true, "missed": null}"#)
            #expect(try both.json()["is_enabled"]?.bool == true && both.json()["missed"] == nil)
        }
    }

    @Test func everyTypeOfEventIsDescribed() async throws {
        try await TestHouse().open { house in
            let document = try await house.get("/openapi.json", key: nil).json()
            let described = try #require(document["webhooks"]?.object).members.map { $0.0 }
            #expect(Set(described) == Set(EventType.allCases.map(\.rawValue) + [WebhookEventType.test.text]))
            let components = try #require(document["components"]?.object?["schemas"]?.object)
            // What may be asked for is what is told of customers.
            let types = components["EventType"]?.object?["enum"]?.array?.compactMap(\.string)
            #expect(Set(types ?? []) == Set(EventType.allCases.map(\.rawValue)))
            let test = try #require(document["webhooks"]?.object?["webhook.test"]?.object?["post"])
            #expect(!String(decoding: test.raw, as: UTF8.self).contains("schemas/Common"))
        }
    }

    /// Each row: a body, and the member at fault.
    @Test(arguments: [
        (#"{}"#, "url"), (#"{"url": "http://shop.example/"}"#, "url"), (#"{"url": 1}"#, "url"),
        (#"{"url": "https://shop.example/", "types": ["order.payed"]}"#, "types"),
        (#"{"url": "https://shop.example/", "types": "order.paid"}"#, "types"),
        (
            #"{"url": "https://shop.example/", "types": ["order.paid"\#(String(repeating: #", "order.paid""#, count: 16))]}"#,
            "types"
        ),
        (#"{"url": "https://shop.example/", "environments": []}"#, "environments"),
        (#"{"url": "https://shop.example/", "environments": ["moon"]}"#, "environments"),
        (#"{"url": "https://shop.example/", "concurrency": 0}"#, "concurrency"),
        (#"{"url": "https://shop.example/", "secret": "x"}"#, "secret"),
        (#"{"url": "https://shop.example/", "missed": null}"#, "missed"),
    ])
    func aBadEndpointIsNotMade(body: String, field: String) async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/webhooks", body)
            let json = try answer.json()
            #expect(answer.status == .badRequest)
            #expect(json["field"]?.string == field)
            #expect(try await house.get("/v1/webhooks").json()["webhooks"]?.array?.count == 0)
        }
    }

    @Test func eventsWaitForTheEndpointAndAreReplayed() async throws {
        try await TestHouse().open { house in
            let id = try await Self.make(house)
            let order = #"{"order_id": "o-1", "customer_id": "ann", "product_id": "coins"}"#
            #expect(await house.change("/v1/orders", order).status == .created)
            let listed = try await house.get("/v1/webhooks/\(id)/deliveries").json()["deliveries"]?.array
            #expect(listed?.count == 1)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["backlog"]?.int64 == 1)
            let event = try #require(listed?.first { _ in true }?.object?["event_id"]?.string)
            let one = try await house.get("/v1/webhooks/\(id)/deliveries/\(event)").json()
            #expect(one["state"]?.string == "pending")
            #expect(one["attempts"] != nil)
            let delivered = try await house.get("/v1/webhooks/\(id)/deliveries", query: "state=delivered").json()
            #expect(delivered["deliveries"]?.array?.count == 0)
            #expect(await house.get("/v1/webhooks/\(id)/deliveries", query: "state=lost").status == .badRequest)
            // It is on its way already.
            let again = await house.change("/v1/webhooks/\(id)/replay", #"{"event_id": "\#(event)"}"#)
            #expect(try again.json()["code"]?.string == "delivery_under_way")
            let unknown = await house.change("/v1/webhooks/\(id)/replay", #"{"event_id": "evt_none"}"#)
            #expect(unknown.status == .notFound)
            let other = try await Self.make(house, #"{"url": "https://shop.example/paid", "types": ["order.paid"]}"#)
            let unwanted = await house.change("/v1/webhooks/\(other)/replay", #"{"event_id": "\#(event)"}"#)
            #expect(try unwanted.json()["code"]?.string == "event_unwanted")
            #expect(try await house.get("/v1/webhooks/\(other)/deliveries").json()["deliveries"]?.array?.count == 0)
            let dead = await house.change("/v1/webhooks/\(id)/replay", #"{"dead": true}"#)
            #expect(try dead.json()["replayed"]?.int64 == 0)
            let bad = await house.change("/v1/webhooks/\(id)/replay", #"{"from": "yesterday"}"#)
            #expect(try bad.json()["field"]?.string == "from")
        }
    }

    /// The receiver wants to be left alone for a day: all messages wait for minutes, unless a person says otherwise.
    @Test(arguments: ["replay", "test"]) func whoIsLeftAloneIsShownAndHasItEnded(how: String) async throws {
        let caller = HTTPCaller { call async throws(HTTPCallFailure) in
            if call.fields["webhook-id"]?.hasPrefix("msg_") == true { return HTTPResponse(.ok) }
            return HTTPResponse(.tooManyRequests, fields: ["Retry-After": "86400"])
        }
        let made = Mutex<WebhookSender?>(nil)
        let house = try TestHouse(sender: { store, clock in
            let post = WebhookPost(caller: caller, clock: clock, rule: EgressRule())
            let owner = LeaseOwner(checked: "node-1")
            let sender = WebhookSender(work: StoredWebhookWork(store), post: post, clock: clock, owner: owner) { _ in }
            made.withLock { $0 = sender }
            return sender
        })
        let sender = try #require(made.withLock { $0 })
        try await house.open { house in
            let id = try await Self.make(house)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["paused_until"] == nil)
            _ = await house.change("/v1/orders", #"{"order_id": "o-1", "customer_id": "ann", "product_id": "coins"}"#)
            await sender.deliverDue()
            let later = TestHouse.now.advanced(by: .seconds(600))
            let paused = try await house.get("/v1/webhooks/\(id)").json()["paused_until"]?.string
            #expect(paused == TransactionJSON.text(later))
            // A replay that is refused ends nothing.
            #expect(await house.change("/v1/webhooks/\(id)/replay", #"{"dead": false}"#).status == .badRequest)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["paused_until"] != nil)
            let body = how == "test" ? "" : #"{"dead": true}"#
            #expect(await house.change("/v1/webhooks/\(id)/\(how)", body).status == .ok)
            #expect(try await house.get("/v1/webhooks/\(id)").json()["paused_until"] == nil)
        }
    }

    /// A receiver that does not answer holds one call, however often a test is asked for.
    @Test func oneTestIsUnderWayAtOnce() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let caller = HTTPCaller { _ async throws(HTTPCallFailure) in
            arrival.yield()
            for await _ in answers { break }
            return HTTPResponse(.ok)
        }
        let house = try TestHouse(sender: { store, clock in
            let post = WebhookPost(caller: caller, clock: clock, rule: EgressRule())
            let owner = LeaseOwner(checked: "node-1")
            return WebhookSender(work: StoredWebhookWork(store), post: post, clock: clock, owner: owner) { _ in }
        })
        try await house.open { house in
            let id = try await Self.make(house)
            async let first = house.change("/v1/webhooks/\(id)/test")
            for await _ in arrivals { break }
            let second = await house.change("/v1/webhooks/\(id)/test")
            answer.finish()
            #expect(second.status == .tooManyRequests && second.fields["Retry-After"] == "20")
            #expect(try second.json()["code"]?.string == "test_under_way")
            #expect(await first.status == .ok)
            #expect(await house.change("/v1/webhooks/\(id)/test").status == .ok)
        }
    }

    @Test func aDeletedEndpointIsGoneAndItsBacklogGivenUp() async throws {
        try await TestHouse().open { house in
            let id = try await Self.make(house)
            _ = await house.change("/v1/orders", #"{"order_id": "o-1", "customer_id": "ann", "product_id": "coins"}"#)
            let deleted = await house.change("/v1/webhooks/\(id)/delete")
            #expect(try deleted.json()["given_up"]?.int64 == 1)
            #expect(await house.get("/v1/webhooks/\(id)").status == .notFound)
            #expect(await house.change("/v1/webhooks/\(id)/delete").status == .notFound)
        }
    }

    @Test func anAppTouchesNoOthersEndpoint() async throws {
        try await TestHouse().open { house in
            let id = try await Self.make(house)
            for path in ["", "/rotate", "/delete", "/replay"] {
                let answer = await house.change(
                    "/v1/webhooks/\(id)\(path)",
                    #"{"dead": true}"#,
                    key: TestHouse.otherKey
                )
                #expect(answer.status == .notFound, "\(path)")
            }
            for path in ["", "/deliveries"] {
                #expect(await house.get("/v1/webhooks/\(id)\(path)", key: TestHouse.otherKey).status == .notFound)
            }
            #expect(await house.get("/v1/webhooks/\(id)").status == .ok)
        }
    }
}
