import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// The store's facts in Apple's words.
@Suite struct StorePayloadTests {
    private func last(_ shop: Shop, _ id: TransactionID) throws -> Payload {
        let sold = try #require(shop.simulator.read { $0.transactions[id] })
        let app = try #require(shop.simulator.read { $0.apps[Shop.bundleID] })
        return .transaction(sold, of: app, signedAt: shop.simulator.now)
    }

    private func renewal(_ shop: Shop, _ id: TransactionID) throws -> Payload {
        try #require(
            shop.simulator.read { store in store.lines[id].map { Payload.renewal(of: $0, in: store) } }
        )
    }

    @Test func aSubscriptionHasAllThatIsNamed() throws {
        let shop = try Shop()
        let payload = try last(shop, try shop.buy("month"))
        #expect(
            Set(payload.keys) == [
                "transactionId", "originalTransactionId", "webOrderLineItemId", "bundleId", "productId",
                "subscriptionGroupIdentifier", "purchaseDate", "originalPurchaseDate", "expiresDate", "quantity",
                "type", "inAppOwnershipType", "signedDate", "environment", "transactionReason", "storefront",
                "storefrontId", "price", "currency", "appTransactionId", "billingPlanType",
            ]
        )
        #expect(payload["storefrontId"] == .text("143441"))
        #expect(payload["environment"] == .text("Sandbox"))
    }

    @Test func aConsumableHasNothingOfASubscription() throws {
        let shop = try Shop()
        let payload = try last(shop, try shop.buy("coins"))
        for key in ["webOrderLineItemId", "subscriptionGroupIdentifier", "expiresDate", "billingPlanType"] {
            #expect(payload[key] == nil)
        }
    }

    /// A resubscription has another id than its first transaction, and yet the customer bought it.
    @Test func theReasonIsTheStores() throws {
        let shop = try Shop()
        let first = try shop.buy("month")
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription(), isOn: false))
        shop.pass(.seconds(3_600))
        let again = try shop.buy("month")
        #expect(again != first)
        #expect(try last(shop, again)["originalTransactionId"] == .text(first.description))
        #expect(try last(shop, again)["transactionReason"] == .text("PURCHASE"))
        shop.pass(.seconds(300))
        let renewed = try #require(shop.simulator.read { $0.lines[first]?.current })
        #expect(try last(shop, renewed)["transactionReason"] == .text("RENEWAL"))
    }

    @Test func aPriceIsToldOnlyOfWhatWillRenew() throws {
        let shop = try Shop()
        let id = try shop.buy("month")
        #expect(try renewal(shop, id)["renewalPrice"] == .number(4_990))
        #expect(try renewal(shop, id)["currency"] == .text("USD"))
        #expect(try renewal(shop, id)["recentSubscriptionStartDate"] == .number(TestAuthority.moment.milliseconds))
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription(), isOn: false))
        for key in ["renewalPrice", "currency", "renewalBillingPlanType"] {
            #expect(try renewal(shop, id)[key] == nil)
        }
    }

    @Test func troubleWithPayingIsSaidWhileItLastsAndDeniedAtTheEnd() throws {
        let shop = try Shop()
        let id = try shop.buy("month")
        #expect(try renewal(shop, id)["isInBillingRetryPeriod"] == nil)
        _ = try shop.simulator.perform(.setPayment(customer: "anna", works: false))
        shop.pass(.seconds(300))
        #expect(try renewal(shop, id)["isInBillingRetryPeriod"] == .flag(true))
        shop.pass(.seconds(600))
        #expect(try renewal(shop, id)["isInBillingRetryPeriod"] == .flag(false))
        #expect(try renewal(shop, id)["expirationIntent"] == .number(2))
    }

    @Test func whoLeftIsOfferedAWayBack() throws {
        let shop = try Shop()
        let id = try shop.buy("trial")
        #expect(try renewal(shop, id)["eligibleWinBackOfferIds"] == nil)
        #expect(try last(shop, id)["price"] == .number(0))
        #expect(try last(shop, id)["offerType"] == .number(1))
        #expect(try last(shop, id)["offerIdentifier"] == nil)
        #expect(try renewal(shop, id)["renewalPrice"] == .number(1_990))
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription("trial"), isOn: false))
        shop.pass(.seconds(3_600))
        #expect(try renewal(shop, id)["eligibleWinBackOfferIds"] == .list([.text("back")]))
        #expect(try renewal(shop, id)["expirationIntent"] == .number(1))
    }

    @Test func aPreparedSignerSignsAsAnyOther() throws {
        let chain = try TestAuthority.shared.chain(.jws)
        let shop = try Shop()
        let payload = try last(shop, try shop.buy("coins"))
        let text = try PreparedSigner(chain).sign(payload)
        let parts = text.utf8.split(separator: UInt8(ascii: ".")).map { Array($0) }
        let right = try JWSSigner(chain).sign(payload).utf8.split(separator: UInt8(ascii: ".")).map { Array($0) }
        #expect(parts.count == 3)
        #expect(parts[0] == right[0])
        #expect(parts[1] == right[1])
        let input = parts[0] + [UInt8(ascii: ".")] + parts[1]
        let signature = try Base64.decode(parts[2], .url, padding: .forbidden)
        #expect(chain.key.publicKey.isValidES256(signature: signature, message: input))
    }
}
