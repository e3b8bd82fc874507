package import Encoding
package import PurchaseModel

/// A subscription as our JSON shows it: what no proof has told is left out.
package enum SubscriptionJSON {
    /// - Parameters:
    ///   - subscription: what is shown.
    ///   - showsToken: whether the account token is, of which a customer's name can be guessed.
    ///   - json: where to.
    package static func write(
        _ subscription: Subscription,
        showsToken: Bool = true,
        into json: inout JSONObjectWriter
    ) {
        json.member("original_transaction_id", digitsOf: subscription.chain.original.number)
        json.member("environment", subscription.chain.realm.environment.rawValue)
        if subscription.chain.realm.isTestSigned { json.member("test_signed", true) }
        json.member("product_id", subscription.product.text)
        json.member("subscription_group", subscription.group)
        json.member("state", subscription.state.rawValue)
        json.member("apple_status", subscription.state.number)
        json.member("since", subscription.since)
        json.member("transaction_id", digitsOf: subscription.current?.number)
        writePeriod(of: subscription, into: &json)
        if showsToken { json.member("app_account_token", subscription.accountToken?.description) }
        writeRenewal(of: subscription, into: &json)
        writeEnd(of: subscription, into: &json)
        if subscription.isBehind { json.member("is_behind", true) }
        json.member("signed_at", subscription.signedAt)
    }

    private static func writePeriod(of subscription: Subscription, into json: inout JSONObjectWriter) {
        json.member("started_at", subscription.startedAt)
        json.member("recent_start_at", subscription.recentStartAt)
        json.member("has_returned", subscription.hasReturned)
        json.member("period_started_at", subscription.periodStartedAt)
        json.member("expires_at", subscription.expiresAt)
        json.member("access_until", subscription.accessUntil)
        json.member("billing_plan", subscription.billingPlan)
        json.member("commitment_ends_at", subscription.commitmentEndsAt)
        json.member("ownership", subscription.ownership?.rawValue)
        if let price = subscription.price {
            json.member("price_milliunits", price.milliunits)
            json.member("currency", price.currency)
        }
        if let offer = subscription.offer { json.object("offer") { write(offer, into: &$0) } }
        if subscription.isTrial { json.member("is_trial", true) }
        if subscription.isIntroductory { json.member("is_introductory", true) }
    }

    private static func writeRenewal(of subscription: Subscription, into json: inout JSONObjectWriter) {
        json.member("will_auto_renew", subscription.willAutoRenew)
        json.member("next_product_id", subscription.nextProduct?.text)
        if let price = subscription.nextPrice {
            json.member("next_price_milliunits", price.milliunits)
            json.member("next_currency", price.currency)
        }
        if let offer = subscription.nextOffer { json.object("next_offer") { write(offer, into: &$0) } }
        json.member("next_billing_plan", subscription.nextBillingPlan)
        json.member("commitment_will_renew", subscription.nextCommitment?.willRenew)
        json.member("commitment_next_product_id", subscription.nextCommitment?.product?.text)
        json.member("commitment_next_billing_plan", subscription.nextCommitment?.billingPlan)
        if !subscription.winBackOffers.isEmpty {
            json.array("win_back_offers") { json in
                for offer in subscription.winBackOffers { json.element(offer) }
            }
        }
        json.member("price_increase", subscription.priceIncrease?.description)
    }

    private static func writeEnd(of subscription: Subscription, into json: inout JSONObjectWriter) {
        json.member("grace_ends_at", subscription.graceEndsAt)
        json.member("retries_until", subscription.retriesUntil)
        json.member("ending", subscription.ending?.description)
        json.member("upgraded_to_product_id", subscription.upgradedTo?.text)
        json.member("moved_to_original_transaction_id", digitsOf: subscription.movedTo?.number)
        json.member("moved_from_original_transaction_id", digitsOf: subscription.movedFrom?.number)
        guard let revocation = subscription.revocation else { return }
        json.object("revocation") { json in
            json.member("at", revocation.at)
            json.member("reason", revocation.reason)
            json.member("type", revocation.type)
            json.member("percentage", revocation.percentage)
        }
    }

    private static func write(_ offer: Offer, into json: inout JSONObjectWriter) {
        json.member("type", offer.kind.rawValue)
        json.member("identifier", offer.identifier)
        json.member("discount_type", offer.discount)
        json.member("period", offer.period)
    }
}
