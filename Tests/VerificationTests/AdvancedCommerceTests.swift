import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What Apple added for Advanced Commerce and for billing plans, in our own words.
@Suite struct AdvancedCommerceTests {
    private static func transaction(_ change: (inout Payload) -> Void) throws -> Transaction {
        var payload = Sample.payload()
        change(&payload)
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
        let examination = try TestVerifier.simulated().examine(token)
        return try #require(examination.proof?.fact.transactions.first)
    }

    private static func object(_ members: (String, Payload.Value)...) -> Payload.Value {
        var payload = Payload()
        for (key, value) in members { payload[key] = value }
        return .object(payload)
    }

    @Test func theChainBeforeAndTheCommitmentAreRead() throws {
        let found = try Self.transaction { payload in
            payload["previousOriginalTransactionId"] = .text("41")
            payload["billingPlanType"] = .text("MONTHLY")
            payload["commitmentInfo"] = Self.object(("commitmentExpiresDate", .number(1_800_000_000_000)))
        }
        #expect(found.previousOriginalID?.number == 41 && found.billingPlan == "MONTHLY")
        #expect(found.commitmentEndsAt == Timestamp(milliseconds: 1_800_000_000_000))
    }

    /// Each row: what stands there, and that the purchase counts all the same.
    @Test(arguments: ["", "-1", "x"]) func whatNamesNoChainNamesNone(text: String) throws {
        let found = try Self.transaction { payload in
            payload["previousOriginalTransactionId"] = .text(text)
            payload["commitmentInfo"] = .text("none")
            payload["advancedCommerceInfo"] = .list([])
        }
        #expect(found.previousOriginalID == nil && found.commitmentEndsAt == nil && found.advancedCommerce == nil)
    }

    @Test func aChainGoesOnFromNoneOfItself() throws {
        let found = try Self.transaction { $0["previousOriginalTransactionId"] = $0["originalTransactionId"] }
        #expect(found.previousOriginalID == nil)
    }

    @Test func itemsAreReadAsFarAsTheyCanBe() throws {
        let refund = Self.object(
            ("refundAmount", .number(990)),
            ("refundDate", .number(7)),
            ("refundType", .text("FULL"))
        )
        let items: [Payload.Value] = [
            Self.object(
                ("SKU", .text("coins big")),
                ("price", .number(990)),
                ("revocationDate", .number(7)),
                ("refunds", .list([refund, Self.object(("refundType", .text("a b")))]))
            ), Self.object(("price", .number(1))), .text("x"), Self.object(("SKU", .text("two\nlines"))),
            Self.object(("SKU", .text(String(repeating: "s", count: 513)))), Self.object(("SKU", .text("small"))),
        ]
        let found = try Self.transaction { $0["advancedCommerceInfo"] = Self.object(("items", .list(items))) }
        let moment = Timestamp(milliseconds: 7)
        #expect(
            found.advancedCommerce?.items == [
                AdvancedCommerce.Item(
                    sku: "coins big",
                    milliunits: 990,
                    revokedAt: moment,
                    refunds: [
                        AdvancedCommerce.Refund(type: "FULL", milliunits: 990, at: moment),
                        AdvancedCommerce.Refund(type: nil, milliunits: nil, at: nil),
                    ]
                ), AdvancedCommerce.Item(sku: "small", milliunits: nil, revokedAt: nil, refunds: []),
            ]
        )
        let many = (0..<60).map { Self.object(("SKU", .text("s\($0)"))) }
        let bounded = try Self.transaction { $0["advancedCommerceInfo"] = Self.object(("items", .list(many))) }
        #expect(bounded.advancedCommerce?.items.count == AdvancedCommerce.itemsMax)
    }

    private static func renewal(of product: String, willRenew: Bool) -> Payload {
        var payload = Payload()
        payload["originalTransactionId"] = .text("1")
        payload["productId"] = .text(product)
        payload["autoRenewProductId"] = .text(product)
        payload["autoRenewStatus"] = .number(willRenew ? 1 : 0)
        payload["environment"] = .text("Sandbox")
        payload["signedDate"] = .number(Sample.moment.milliseconds)
        return payload
    }

    /// Whoever cancels a commitment in its middle says so in it alone; what is none tells nothing.
    @Test func whatComesAfterACommitmentIsRead() throws {
        func renewal(_ info: Payload.Value?) throws -> Renewal? {
            var payload = Self.renewal(of: "yearly", willRenew: true)
            payload["renewalBillingPlanType"] = .text("MONTHLY")
            payload["commitmentInfo"] = info
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
            return try TestVerifier.simulated().examine(token).proof?.fact.claims.renewal
        }
        let info = Self.object(
            ("commitmentAutoRenewProductId", .text("pro")),
            ("commitmentAutoRenewStatus", .number(0)),
            ("commitmentRenewalBillingPlanType", .text("BILLED_UPFRONT")),
            ("commitmentRenewalDate", .number(7)),
            ("commitmentRenewalPrice", .number(9_990))
        )
        let found = try #require(try renewal(info))
        #expect(found.willAutoRenew == true && found.nextBillingPlan == "MONTHLY")
        var next = NextCommitment()
        (next.willRenew, next.product) = (false, ProductID("pro"))
        (next.billingPlan, next.beginsAt) = ("BILLED_UPFRONT", Timestamp(milliseconds: 7))
        #expect(found.nextCommitment == next)
        let strange = [.text("x"), .list([]), Self.object(), Self.object(("commitmentAutoRenewStatus", .text("x")))]
        for info in strange { #expect(try renewal(info)?.nextCommitment == nil) }
        #expect(try renewal(nil)?.willAutoRenew == true)
    }

    @Test func whatSheMayBeWonBackByIsRead() throws {
        var payload = Self.renewal(of: "monthly", willRenew: false)
        payload["eligibleWinBackOfferIds"] = .list([.text("best"), .text(""), .text("a\nb"), .text("next")])
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
        let found = try TestVerifier.simulated().examine(token).proof?.fact.claims.renewal
        #expect(found?.winBackOffers == ["best", "next"])
    }
}
