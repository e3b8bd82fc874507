import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What a merchant changes by the Server API.
@Suite struct ServerAPIChangeTests {
    private static let uuid = "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"

    private static func terms(_ identifier: String, _ more: String = "") -> String {
        "{\"extendByDays\":7,\"extendReasonCode\":1,\"requestIdentifier\":\"\(identifier)\"\(more)}"
    }

    @Test func anExtensionMovesTheEndOnceForEachRequest() async throws {
        let shop = try Shop()
        let id = try shop.buy("month", by: "berta")
        let path = "/inApps/v1/subscriptions/extend/\(id)"
        let end = try #require(shop.simulator.read { $0.lines[id]?.expiresAt })
        let week = 7 * 86_400_000
        for (request, weeks) in [("a", 1), ("a", 1), ("b", 2), ("a", 2)] {
            let answer = try await shop.object(.put, path, body: Self.terms(request), in: .production)
            #expect(answer.names == ["originalTransactionId", "webOrderLineItemId", "success", "effectiveDate"])
            #expect(answer["success"]?.bool == true)
            #expect(answer["originalTransactionId"]?.string == id.description)
            #expect(answer["effectiveDate"]?.int64 == end.milliseconds + Int64(weeks * week))
        }
        #expect(try await shop.code(.put, path, body: Self.terms("c"), in: .production) == 4_030_005)
        #expect(shop.simulator.read { $0.notices.filter { $0.type == .renewalExtended }.count } == 2)
    }

    @Test func anExtensionForAllRunsLaterAndOnce() async throws {
        let shop = try Shop()
        let id = try shop.buy("month", by: "berta")
        let end = try #require(shop.simulator.read { $0.lines[id]?.expiresAt })
        let path = "/inApps/v1/subscriptions/extend/mass"
        let body = Self.terms(Self.uuid, #","productId":"month""#)
        for _ in 0..<2 {
            let answer = try await shop.object(.post, path, body: body, in: .production)
            #expect(answer.names == ["requestIdentifier"])
            #expect(answer["requestIdentifier"]?.string == Self.uuid)
        }
        let status = path + "/month/" + Self.uuid
        let waiting = try await shop.object(.get, status, in: .production)
        #expect(waiting.names == ["requestIdentifier", "complete"])
        #expect(waiting["complete"]?.bool == false)
        shop.pass(.seconds(86_400))
        let done = try await shop.object(.get, status, in: .production)
        #expect(done.names == ["requestIdentifier", "complete", "completeDate", "succeededCount", "failedCount"])
        #expect(done["succeededCount"]?.int64 == 1)
        #expect(done["failedCount"]?.int64 == 0)
        #expect(shop.simulator.read { $0.lines[id]?.expiresAt } == end.advanced(by: .seconds(7 * 86_400)))
        #expect(try await shop.code(.get, status) == 4_040_009)
    }

    @Test(arguments: [
        (#""refundPreference":"GRANT_PRORATED","consumptionPercentage":25000"#, "REFUND_PRORATED", 75_000),
        (#""refundPreference":"GRANT_FULL""#, "REFUND_FULL", 100_000),
        (#""consumptionPercentage":1"#, "REFUND_FULL", 100_000),
    ])
    func whatTheMerchantTellsCanSteerARefund(member: String, type: String, percentage: Int) async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        var request = Act.RefundRequest(transaction: id)
        request.outcome = .full
        _ = try shop.simulator.perform(.askRefund(request))
        let body = #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED",\#(member)}"#
        let response = try await shop.call(.put, "/inApps/v2/transactions/consumption/\(id)", body: body)
        #expect(response == HTTPResponse(.accepted))
        #expect(shop.simulator.read { $0.consumptions[id]?.map(\.body) } == [Array(body.utf8)])
        shop.pass(.seconds(301))
        let revocation = try #require(shop.simulator.read { $0.transactions[id]?.fact.revocation })
        #expect(revocation.type == type)
        #expect(revocation.percentage == percentage)
    }
}
