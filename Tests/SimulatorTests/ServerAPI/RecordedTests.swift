import HTTP
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What the simulated store answers, beside what Apple has answered.
@Suite(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote))) struct ServerAPIRecordedTests {
    /// Every key of the recorded object is in ours, with the same kind of value; inside signed texts, too.
    private func compare(_ recorded: JSONValue, _ ours: JSONValue, _ path: String) throws {
        #expect(recorded.kind == ours.kind, "\(path)")
        if let recorded = recorded.object, let ours = ours.object {
            for (key, value) in recorded.members {
                let own = try #require(ours[key], "\(path).\(key)")
                try compare(value, own, path + "." + key)
            }
        } else if let first = recorded.array?[0], let own = ours.array?[0] {
            try compare(first, own, path + "[]")
        } else if let text = recorded.string, text.utf8.starts(with: Array("eyJ".utf8)) {
            try compare(JSONObject.payload(text).value, JSONObject.payload(ours.string).value, path + "/payload")
        }
    }

    @Test func statusesHaveTheRecordedShape() async throws {
        let bytes = try Corpus.bytes("server_api_responses/get_all_subscription_statuses.json")
        let recorded = try JSONDocument(bytes).root
        let shop = try Shop()
        let id = try shop.buy("month")
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription(), isOn: false))
        shop.pass(.seconds(301))
        let ours = try await shop.object(.get, "/inApps/v1/subscriptions/\(id)")
        try compare(recorded, ours.value, "")
    }

    /// Keys that belong to a device, or to what the store does not sell.
    private static let foreign: Set = ["deviceVerification", "deviceVerificationNonce", "advancedCommerceInfo"]

    @Test(arguments: ["jws_transaction", "jws_renewal_info"])
    func signedTextsHaveAllRecordedKeys(kind: String) async throws {
        let shop = try Shop()
        var ours: [String: JSONValue.Kind] = [:]
        for payload in try await everyPayload(shop, kind) {
            for (key, value) in payload.members { ours[key] = value.kind }
        }
        for item in Corpus.cases(ofKind: kind) where item.expect.isGenuineJWSAtSigning == true {
            let payload = try JSONObject.payload(String(decoding: try item.bytes().filter { $0 > 0x20 }, as: UTF8.self))
            for (key, value) in payload.members where !Self.foreign.contains(key) {
                #expect(ours[key] == value.kind, "\(item.id) \(key)")
            }
        }
    }

    /// Of a subscription through all that can befall it.
    private func everyPayload(_ shop: Shop, _ kind: String) async throws -> [JSONObject] {
        let token = AccountToken(high: 1, low: 2)
        let month = try shop.buy("month")
        let trial = try shop.buy("trial")
        _ = try shop.simulator.perform(.setAccountToken(month, token))
        _ = try shop.simulator.perform(.changePlan(shop.subscription(), to: ProductID(checked: "year")))
        shop.simulator.change { store in
            guard var app = store.apps[Shop.bundleID] else { return }
            app.gracePeriod = GracePeriod(days: 16)
            store.set(app)
        }
        var payloads: [JSONObject] = []
        for act in [Act.setPayment(customer: "anna", works: false), .setPayment(customer: "anna", works: true)] {
            _ = try shop.simulator.perform(act)
            shop.pass(.seconds(181))
            payloads += try await self.payloads(shop, trial, kind)
        }
        try shop.refund(try #require(shop.simulator.read { $0.lines[trial]?.current }))
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription(), isOn: false))
        shop.pass(.seconds(86_400))
        return payloads + (try await self.payloads(shop, month, kind))
    }

    private func payloads(_ shop: Shop, _ id: TransactionID, _ kind: String) async throws -> [JSONObject] {
        if kind == "jws_transaction" {
            return try await shop.object(.get, "/inApps/v2/history/\(id)").payloads("signedTransactions")
        }
        let groups = try #require(try await shop.object(.get, "/inApps/v1/subscriptions/\(id)")["data"]?.array)
        return try groups.compactMap {
            try $0.object?["lastTransactions"]?.array?[0]?.object?.payload("signedRenewalInfo")
        }
    }
}
