import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

@Suite struct WebhookSenderTests {
    /// Words for what was reported.
    private final class Reports: Sendable {
        private let words = Mutex<[String]>([])

        var all: [String] { words.withLock { $0 } }

        func note(_ event: WebhookEvent) {
            let word: String? =
                switch event {
                case .attempted: nil
                case .died: "died"
                case .disabled(_, _, let reason): "disabled \(reason)"
                case .paused: "paused"
                case .leaseLost: "lost"
                case .storeFailed(let failure): "store \(failure)"
                }
            if let word { words.withLock { $0.append(word) } }
        }
    }

    @Test func aMessageIsSignedAndDeliveredOnce() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            var answer = HTTPResponse(.ok, body: [UInt8](repeating: 0x78, count: 5_000))
            answer.remote = HTTPRemote(address: [8, 8, 8, 8], port: 443)
            return .success(answer)
        }
        await sender.deliverDue()
        await sender.deliverDue()
        let call = try #require(inbox.all.first)
        #expect(inbox.all.count == 1 && call.method == .post && call.url == "https://shop.example/")
        #expect(call.fields["Content-Type"] == "application/json")
        let verifier = WebhookVerifier(secrets: endpoint.secrets)
        let id = try verifier.check(call.fields, body: call.body, at: desk.clock.now)
        #expect(id.text == "evt_1")
        #expect(try JSONDocument(call.body).root.object?["type"]?.string == "order.paid")
        #expect(desk.deliveries(of: endpoint).map(\.state) == [.delivered])
        let attempt = try #require(desk.attempts.first)
        #expect(attempt.status == 200 && attempt.failure == nil && attempt.address == "8.8.8.8")
        #expect(attempt.answer.count == 1_024 && attempt.number == 1)
    }

    @Test func aFailingMessageIsTriedAsTheScheduleSaysAndGivenUp() async throws {
        let (desk, inbox, reports) = (WebhookDesk(), WebhookInbox(), Reports())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender(report: reports.note) { call in
            inbox.append(call)
            return .success(HTTPResponse(.internalServerError))
        }
        // An hour's step is more than any pause of the breaker's.
        for _ in 0..<120 {
            await sender.deliverDue()
            desk.clock.advance(by: .seconds(3_600))
        }
        #expect(inbox.all.count == 10)
        #expect(Set(inbox.ids()) == ["evt_1"])
        // Each attempt is signed anew, at its own time.
        #expect(Set(inbox.all.compactMap { $0.fields["webhook-timestamp"] }).count == 10)
        let delivery = try #require(desk.deliveries(of: endpoint).first)
        #expect(delivery.state == .dead && delivery.deadReason == "attempts_exhausted" && delivery.attempts == 10)
        #expect(reports.all.filter { $0 == "died" }.count == 1)
    }

    @Test func theSecondAttemptComesAfterItsPause() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            return .success(HTTPResponse(inbox.all.count == 1 ? .internalServerError : .noContent))
        }
        await sender.deliverDue()
        desk.clock.advance(by: .milliseconds(4_999))
        await sender.deliverDue()
        #expect(inbox.all.count == 1)
        desk.clock.advance(by: .milliseconds(1_002))
        await sender.deliverDue()
        #expect(inbox.all.count == 2 && desk.deliveries(of: endpoint).first?.state == .delivered)
    }

    @Test func goneDisablesTheEndpoint() async throws {
        let (desk, inbox, reports) = (WebhookDesk(), WebhookInbox(), Reports())
        let (gone, other) = (desk.addEndpoint("gone"), desk.addEndpoint("other"))
        desk.addEvents(5, to: gone)
        desk.addEvents(5, to: other)
        let sender = desk.sender(report: reports.note) { call in
            inbox.append(call)
            return .success(HTTPResponse(call.url == gone.url ? HTTPStatus(rawValue: 410) : .ok))
        }
        await sender.deliverDue()
        #expect(inbox.ids(at: gone.url).count == 1 && inbox.ids(at: other.url).count == 5)
        #expect(desk.endpoint(gone)?.isEnabled == false && desk.endpoint(gone)?.disabledReason == "endpoint_gone")
        #expect(desk.endpoint(other)?.isEnabled == true)
        #expect(reports.all == ["died", "disabled endpoint_gone"])
        // What was not sent is not lost.
        #expect(desk.deliveries(of: gone).filter { $0.state == .pending }.count == 4)
    }

    @Test func fiveDaysOfFailuresDisableTheEndpoint() async throws {
        let (desk, reports) = (WebhookDesk(), Reports())
        let endpoint = desk.addEndpoint("shop")
        let sender = desk.sender(report: reports.note) { _ in .failure(.timedOut) }
        for hour in 0..<120 {
            desk.addEvents(1, to: endpoint)
            await sender.deliverDue()
            #expect(desk.endpoint(endpoint)?.isEnabled == true, "after \(hour) hours")
            desk.clock.advance(by: .seconds(3_600))
        }
        await sender.deliverDue()
        #expect(desk.endpoint(endpoint)?.isEnabled == false)
        #expect(desk.endpoint(endpoint)?.disabledReason == "failing_for_days")
        #expect(reports.all.contains("disabled failing_for_days"))
    }

    @Test func aPauseThatTheEndpointWantsIsKept() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(3, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            if inbox.all.count > 1 { return .success(HTTPResponse(.ok)) }
            return .success(HTTPResponse(.tooManyRequests, fields: ["Retry-After": "60"]))
        }
        await sender.deliverDue()
        desk.clock.advance(by: .seconds(59))
        await sender.deliverDue()
        #expect(inbox.all.count == 1, "the others wait, too")
        desk.clock.advance(by: .seconds(1))
        await sender.deliverDue()
        #expect(Set(inbox.ids()).count == 3 && desk.deliveries(of: endpoint).allSatisfy { $0.state == .delivered })
    }

    /// Each row: whether a person has something sent; and how many of the later messages have come at once, and after ten
    /// minutes. The message itself waits for as long as was wished.
    @Test(arguments: [("", 0, 2), ("replay", 2, 2), ("test that is answered", 2, 2), ("test that fails", 0, 2)])
    func oneMessagesPauseStopsNoOtherForLong(what: String, atOnce: Int, later: Int) async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            if inbox.all.count == 1 {
                return .success(HTTPResponse(.tooManyRequests, fields: ["Retry-After": "86400"]))
            }
            let isTest = call.fields["webhook-id"]?.hasPrefix("msg_") == true
            return .success(HTTPResponse(isTest && what == "test that fails" ? .tooManyRequests : .ok))
        }
        await sender.deliverDue()
        desk.addEvents(2, to: endpoint)
        switch what {
        case "": break
        case "replay": sender.reopen(endpoint.id)
        default: _ = try await sender.sendTest(to: endpoint, id: .ofTest())
        }
        for (moment, count) in [(0, atOnce), (599, atOnce), (1, later), (85_799, later), (1, 3)] {
            desk.clock.advance(by: .seconds(moment))
            await sender.deliverDue()
            let delivered = desk.deliveries(of: endpoint).count { $0.state == .delivered }
            #expect(delivered == count, "after \(moment) s more")
        }
    }

    @Test func whoHasMendedItsEndpointNeedNotWait() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            guard call.url == endpoint.url else { return .success(HTTPResponse(.ok)) }
            return .success(HTTPResponse(.tooManyRequests, fields: ["Retry-After": "86400"]))
        }
        await sender.deliverDue()
        desk.addEvents(2, to: endpoint)
        await sender.deliverDue()
        #expect(inbox.all.count == 1, "it wanted to be left alone for a day")
        desk.change(endpoint) { $0.url = "https://mended.example/" }
        await sender.deliverDue()
        #expect(inbox.ids(at: "https://mended.example/").count == 2, "what was not tried yet is due")
    }

    @Test func whereItIsWantedACustomersEventsComeInOrder() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop", concurrencyMax: 8, ordersPerCustomer: true)
        for _ in 0..<10 {
            for customer in ["a", "b", "c"] { desk.addEvents(1, to: endpoint, customer: customer) }
        }
        let failed = Mutex<Set<String>>([])
        let sender = desk.sender { call in
            inbox.append(call)
            await Task.yield()
            let id = call.fields["webhook-id"] ?? ""
            // Every third fails once.
            let isFirst = failed.withLock { $0.insert(id).inserted }
            return .success(HTTPResponse(isFirst && id.utf8.last.map { $0 % 3 == 0 } == true ? .badRequest : .ok))
        }
        for _ in 0..<40 {
            await sender.deliverDue()
            desk.clock.advance(by: .seconds(10))
        }
        #expect(desk.deliveries(of: endpoint).allSatisfy { $0.state == .delivered })
        var seen: [String: [Int]] = [:]
        for call in inbox.all {
            let data = try #require(try JSONDocument(call.body).root.object?["data"]?.object)
            let customer = try #require(data["customer_id"]?.string)
            seen[customer, default: []].append(Int(try #require(data["sequence"]?.int64)))
        }
        #expect(seen.count == 3 && seen.values.allSatisfy { $0 == $0.sorted() })
    }

    @Test func aURLThatMayNotBeCalledIsNotCalled() async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop", url: "http://shop.example/")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender { call in
            inbox.append(call)
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(inbox.all.isEmpty)
        #expect(desk.attempts.first?.failure == "url_scheme" && desk.deliveries(of: endpoint).first?.state == .pending)
    }

    @Test func aStoreThatFailsLosesNothing() async throws {
        let (desk, inbox, reports) = (WebhookDesk(), WebhookInbox(), Reports())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender(report: reports.note) { call in
            inbox.append(call)
            if inbox.all.count == 1 { desk.fail(with: .busy) }
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(reports.all.allSatisfy { $0 == "store busy" } && !reports.all.isEmpty)
        desk.fail(with: nil)
        await sender.deliverDue()
        #expect(inbox.all.count == 1, "it is still leased")
        desk.clock.advance(by: .seconds(30))
        await sender.deliverDue()
        #expect(inbox.ids() == ["evt_1", "evt_1"] && desk.deliveries(of: endpoint).first?.state == .delivered)
    }

    @Test func aLostLeaseIsReported() async throws {
        let (desk, reports) = (WebhookDesk(), Reports())
        let endpoint = desk.addEndpoint("shop")
        desk.addEvents(1, to: endpoint)
        let sender = desk.sender(report: reports.note) { _ in
            desk.loseLeases()
            return .success(HTTPResponse(.ok))
        }
        await sender.deliverDue()
        #expect(reports.all == ["lost"] && desk.deliveries(of: endpoint).first?.state == .leased)
        #expect(desk.attempts.count == 1)
    }

    @Test(arguments: [
        (HTTPStatus.ok, WebhookVerdict.delivered), (.seeOther, .failed(nil)), (HTTPStatus(rawValue: 410), .gone),
    ])
    func aTestIsSentOnceAndKeptNowhere(status: HTTPStatus, verdict: WebhookVerdict) async throws {
        let (desk, inbox) = (WebhookDesk(), WebhookInbox())
        let endpoint = desk.addEndpoint("shop")
        let sender = desk.sender { call in
            inbox.append(call)
            return .success(HTTPResponse(status, body: [1]))
        }
        let result = try await sender.sendTest(to: endpoint, id: try #require(WebhookMessageID("evt_test")))
        #expect(result.verdict == verdict && result.status == status.rawValue && result.answer == [1])
        let call = try #require(inbox.all.first)
        let verifier = WebhookVerifier(secrets: endpoint.secrets)
        #expect(try verifier.check(call.fields, body: call.body, at: desk.clock.now).text == "evt_test")
        #expect(try JSONDocument(call.body).root.object?["type"]?.string == "webhook.test")
        #expect(desk.attempts.isEmpty && desk.endpoint(endpoint)?.isEnabled == true)
    }
}
