/// One transaction in the books: what it is counted as, and what it brought.
///
/// It is counted on the day of the purchase, by Apple's moment; what Apple took back, on the day on which it did.
struct Sale {
    private let transaction: Transaction
    private let place: FigureKey
    /// `nil` for what is no purchase of money's worth.
    private let measure: Measure

    /// - Parameters:
    ///   - transaction: as it was signed.
    ///   - chain: where it stands.
    ///   - isRepetition: whether another transaction is the same paid period.
    ///   - isFirst: whether its chain began with it, and goes on from no other one.
    init(_ transaction: Transaction, in chain: ChainKey, isRepetition: Bool, isFirst: Bool) {
        self.transaction = transaction
        place = FigureKey(
            app: chain.app,
            realm: chain.realm,
            measure: .firstPurchases,
            day: DayOfTime(containing: transaction.purchasedAt),
            product: transaction.product,
            storefront: transaction.storefront.flatMap { $0.isThreeCapitals ? $0 : nil } ?? ""
        )
        if transaction.ownership == .familyShared {
            measure = .familyShared
        } else if isRepetition {
            measure = .restores
        } else if isFirst {
            measure = transaction.isTrial ? .trials : .firstPurchases
        } else if transaction.isSubscriptionPeriod {
            measure = transaction.isTrial ? .trials : .renewals
        } else {
            // What is no period has another number than its first one only when it was restored.
            measure = .restores
        }
    }

    func add(to sums: inout FigureSums) {
        count(1, as: measure, at: place, in: &sums)
        guard measure == .firstPurchases || measure == .renewals || measure == .trials else { return }
        let price = transaction.countedPrice
        if let price {
            pay(price.milliunits, price.currency, as: .revenue, at: place, in: &sums)
        } else if measure != .trials {
            count(1, as: .priceUnknown, at: place, in: &sums)
        }
        guard let revocation = transaction.takenBack else { return }
        var refund = place
        refund.day = DayOfTime(containing: revocation.at)
        count(1, as: .refunds, at: refund, in: &sums)
        if let price {
            pay(price.share(revocation.percentage), price.currency, as: .refunded, at: refund, in: &sums)
        } else {
            count(1, as: .refundUnknown, at: refund, in: &sums)
        }
    }

    private func count(_ amount: Int64, as measure: Measure, at place: FigureKey, in sums: inout FigureSums) {
        var key = place
        key.measure = measure
        sums.add(amount, to: key)
    }

    private func pay(
        _ amount: Int64,
        _ currency: String,
        as measure: Measure,
        at place: FigureKey,
        in sums: inout FigureSums
    ) {
        var key = place
        (key.measure, key.currency) = (measure, currency)
        sums.add(amount, to: key)
    }
}

extension Transaction {
    var isTrial: Bool { offer?.discount == "FREE_TRIAL" }

    /// What was charged, if a signed fact says so.
    var countedPrice: Price? { price?.counted }
}

extension Price {
    /// A billion of a currency's unit.
    private static let countedMax: Int64 = 1_000_000_000_000

    /// `nil` when it is beyond all reason, and counts as unknown: sums stay numbers.
    var counted: Price? {
        (0...Self.countedMax).contains(milliunits) && currency.isThreeCapitals ? self : nil
    }

    /// How much of it was paid back, by thousandths of a percent; all of it when Apple did not say.
    func share(_ percentage: Int?) -> Int64 {
        guard let percentage else { return milliunits }
        return milliunits * Int64(min(max(percentage, 0), 100_000)) / 100_000
    }
}

extension String {
    /// As the codes of countries and of currencies are: figures are looked up by them, and no key is as long as a sender
    /// likes.
    fileprivate var isThreeCapitals: Bool {
        utf8.count == 3 && utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}
