// What a purchase of a product consists of, and what makes it the only one of its kind.
extension Draft {
    /// What a transaction gives by the terms of its product; `nil` when the numbers are beyond all reason.
    func goods(of transaction: Transaction) -> [GrantedGoods]? {
        guard (1...Int(Int32.max)).contains(transaction.quantity) else { return nil }
        var all: [GrantedGoods] = []
        for goods in terms.products?[transaction.product]?.goods ?? [] {
            switch goods {
            case .entitlement(let id):
                all.append(.entitlement(id, until: end(of: transaction)))
            case .amount(let amount, let currency):
                let (product, overflows) = amount.multipliedReportingOverflow(by: Int64(transaction.quantity))
                guard !overflows, product > 0 else { return nil }
                all.append(.amount(GrantedAmount(currency: currency, amount: product)))
            }
        }
        return all
    }

    /// Until when a purchase lasts, as long as nobody takes it back; `nil` is for ever.
    ///
    /// Two seasons that are bought at once are one that lasts twice as long. What is bought by itself lasts from when it was
    /// bought, whatever else runs then.
    func end(of transaction: Transaction) -> Timestamp? {
        if kind(of: transaction) == .nonRenewing, let period = terms.products?[transaction.product]?.period {
            return transaction.purchasedAt.advanced(by: period.times(transaction.quantity))
        }
        return transaction.expiresAt
    }

    /// Until when what a period gave may be used, a grace after it included.
    func accessEnd(of recorded: RecordedTransaction) -> Timestamp? {
        guard let end = recorded.transaction.expiresAt else { return nil }
        guard let subscription = subscription(of: chain(of: recorded)), subscription.current == recorded.id,
            let grace = subscription.graceEndsAt
        else { return end }
        return max(end, grace)
    }

    /// What a transaction is the only grant of, unless another one of its chain is that already.
    ///
    /// A product that is bought for good is one, however often it is restored; so is a paid period. What was bought anew
    /// after all before it were refunded is another, and so is what was changed in the middle of a period until whose end it
    /// lasts as well, by Advanced Commerce.
    func freeUnit(_ recorded: RecordedTransaction) -> GrantUnit? {
        let unit = usualUnit(recorded)
        let chain = chain(of: recorded)
        guard hasGrants(chain) else { return unit }
        var holders = holders(of: unit, in: chain)
        if unit.isOfPeriod {
            // Apple may have moved the end of what was given.
            holders += self.holders(of: .period(from: recorded.purchasedAt, recorded.transaction.product), in: chain)
        }
        holders.removeAll { $0.transaction == recorded.key }
        guard !holders.isEmpty else { return unit }
        let isBoughtAnew = holders.allSatisfy { holder in
            // Nobody had bought that.
            if holder.isTakenAsCopy { return true }
            if recorded.transaction.isChange(of: holder) { return true }
            guard holder.isReversed, let end = holder.reversedAt else { return false }
            // A family's copy has the period of whose it was. Whoever comes back has a new one of the same period.
            let isShared = recorded.transaction.ownership == .familyShared
            return end < (isShared ? recorded.transaction.signedAt : recorded.transaction.purchasedAt)
        }
        return isBoughtAnew ? GrantUnit(text: GrantUnit.again + "\(recorded.id):\(unit.text)") : nil
    }

    /// Whether its chain has it once, however many numbers it comes under. Of what nobody says the kind only a lasting
    /// purchase can have several: each consumable is the first of a chain of its own.
    func mayBeRestored(_ transaction: Transaction) -> Bool {
        guard let kind = kind(of: transaction) else { return !transaction.isSubscriptionPeriod }
        return kind == .nonConsumable
    }

    /// Whether it is a period of a subscription whose end is known.
    func isPaidPeriod(_ transaction: Transaction) -> Bool {
        guard transaction.expiresAt != nil else { return false }
        return [.autoRenewable, .freeSubscription].contains(kind(of: transaction) ?? .autoRenewable)
    }

    private func usualUnit(_ recorded: RecordedTransaction) -> GrantUnit {
        let transaction = recorded.transaction
        if mayBeRestored(transaction) { return GrantUnit(text: "product:\(transaction.product)") }
        // Whoever has no catalogue knows it by its end.
        guard isPaidPeriod(transaction), let end = transaction.expiresAt else {
            return GrantUnit(text: "transaction:\(recorded.id)")
        }
        // To the second: receipts know no more.
        return GrantUnit(text: "\(GrantUnit.until)\(end.milliseconds / 1_000):\(transaction.product)")
    }
}

extension Transaction {
    /// Whether it changed what a subscription through Advanced Commerce consists of, or was changed: items are added and taken
    /// out in the middle of a period, under one product, and what is bought with them may end with it.
    fileprivate func isChange(of holder: Fulfilment) -> Bool {
        advancedCommerce != nil && holder.purchasedAt.seconds != purchasedAt.seconds
    }
}

extension Duration {
    /// How long so many periods last that are bought at once. Quantities are at most 32 bits long: no century times that is too
    /// long.
    func times(_ quantity: Int) -> Duration { self * min(quantity, Int(Int32.max)) }
}

extension GrantUnit {
    /// Stands before the number of a transaction and what it was the only grant of before.
    fileprivate static let again = "again:"

    /// Stands before the end of a paid period.
    fileprivate static let until = "until:"

    /// What a paid period is found by whose end was moved: never a unit of its own.
    static func period(from start: Timestamp, _ product: ProductID) -> GrantUnit {
        GrantUnit(text: "from:\(start.milliseconds / 1_000):\(product)")
    }

    /// Whether it is a paid period.
    var isOfPeriod: Bool { text.utf8.starts(with: GrantUnit.until.utf8) }

    /// Whether it is a paid period that ends then.
    func isOfPeriod(until end: Timestamp) -> Bool {
        text.utf8.starts(with: "\(GrantUnit.until)\(end.milliseconds / 1_000):".utf8)
    }

    /// When the paid period ends that it is, to the second.
    var endOfPeriod: Timestamp? {
        guard isOfPeriod else { return nil }
        let digits = text.utf8.dropFirst(GrantUnit.until.utf8.count).prefix { $0 != UInt8(ascii: ":") }
        let (milliseconds, overflows) = (Int64(String(Substring(digits))) ?? 0).multipliedReportingOverflow(by: 1_000)
        return overflows ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// Whether it is of something that was given before, and taken back.
    var isRepetition: Bool { text.utf8.starts(with: GrantUnit.again.utf8) }

    /// Whether it is a product that is bought for good.
    var isOfProduct: Bool { text.utf8.starts(with: "product:".utf8) }

    /// What it is, without that it was bought anew: a receipt of years has many, and each is looked up among them.
    var base: GrantUnit {
        guard isRepetition else { return self }
        let rest = text.utf8.dropFirst(GrantUnit.again.utf8.count).drop { $0 != UInt8(ascii: ":") }.dropFirst()
        return GrantUnit(text: String(decoding: rest, as: UTF8.self))
    }
}

extension Fulfilment {
    /// By what it is found when the same may be granted again.
    var unitsHeld: [GrantUnit] {
        guard let unit = unit?.base else { return [] }
        return unit.isOfPeriod ? [unit, .period(from: purchasedAt, product)] : [unit]
    }

    /// What it may be another number of: a paid period that was given, or would be.
    var periodRepeated: GrantUnit? {
        guard unit == nil, reason == .alreadyGranted || tellsOfReturn else { return nil }
        return .period(from: purchasedAt, product)
    }
}
