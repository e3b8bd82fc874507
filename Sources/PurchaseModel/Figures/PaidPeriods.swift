/// The periods of one subscription in their order, and what follows of them for figures over time.
///
/// Each paid period is one, however often it was restored. What a member of the family shares is nobody's subscription.
struct PaidPeriods {
    /// One period of service.
    private struct Period {
        let transaction: Transaction
        /// Until when it gave service: a refund or an upgrade ends it. `nil` when nobody said.
        let end: Timestamp?

        /// For so long after it Apple tries to charge: a period that begins later was bought anew.
        var renewedWithin: Duration { SubscriptionRules.billingRetry(on: transaction.billingPlan) }
        var start: Timestamp { transaction.purchasedAt }
        /// Nothing is known to be free about it.
        var isPaid: Bool { !transaction.isTrial && transaction.price?.milliunits != 0 }

        /// Whether nothing lies between it and the end of the period before.
        func goesOn(from end: Timestamp?) -> Bool { end.map { start.seconds <= $0.seconds + PaidPeriods.gap } ?? false }
    }

    /// What a subscription is at the first moment of a month: where the period stands that it lies in.
    fileprivate struct Standing {
        let month: MonthOfTime
        var place: Int
    }

    /// No period of Apple's is longer than a year; what claims more is counted for three.
    private static let monthsMax: Int64 = 36
    /// How far a cohort is followed.
    private static let stepMax: Int64 = 24
    /// What begins within so many seconds of an end has never been away.
    static let gap: Int64 = 60

    private let chain: ChainKey
    private let periods: [Period]
    /// When Apple went on with it under another number.
    private let movedAt: Timestamp?
    /// Whether it goes on from another chain.
    private let isContinued: Bool

    /// - Parameters:
    ///   - chain: which subscription.
    ///   - transactions: its periods, each once, by the moment of purchase.
    ///   - ends: where it came from, and where it goes on.
    init(_ chain: ChainKey, _ transactions: [Transaction], _ ends: PeriodEnds) {
        self.chain = chain
        let movedAt = ends.move?.at
        self.movedAt = movedAt
        isContinued = ends.origin != nil
        let owned = transactions.filter { $0.ownership != .familyShared }
        periods = owned.indices.map { index in
            let next = owned.indices.contains(index + 1) ? owned[index + 1] : nil
            let end = Self.end(of: owned[index], before: next)
            return Period(transaction: owned[index], end: end.map { min($0, movedAt ?? $0) })
        }
    }

    private static func end(of transaction: Transaction, before next: Transaction?) -> Timestamp? {
        guard let end = transaction.expiresAt else { return nil }
        if transaction.isUpgraded { return min(next?.purchasedAt ?? transaction.revocation?.at ?? end, end) }
        return min(transaction.revocation?.at ?? end, end)
    }

    /// Whether it began with a period that is not recorded: what is known of it begins with a later one.
    private var beganUnseen: Bool {
        guard let first = periods.first?.transaction, first.id != chain.original else { return false }
        return first.originallyPurchasedAt.map { $0.seconds < first.purchasedAt.seconds } ?? true
    }

    /// Whether what was paid for last goes on under another number.
    private var goesOnElsewhere: Bool {
        guard let movedAt, let last = periods.last, let end = last.transaction.expiresAt else { return false }
        return movedAt <= end.advanced(by: last.renewedWithin)
    }

    func add(to sums: inout FigureSums) {
        addUpgrades(to: &sums)
        addTrials(to: &sums)
        addRenewals(to: &sums)
        addMonths(to: &sums)
    }

    /// Apple pays back what was left of the old period, and signs no amount: it is what was left of its time, and at most
    /// what it has not paid back as a refund.
    private func addUpgrades(to sums: inout FigureSums) {
        for (old, new) in zip(periods, periods.dropFirst()) where old.transaction.isUpgraded {
            guard let end = old.transaction.expiresAt, old.start <= new.start, new.start < end else { continue }
            add(1, .upgrades, DayOfTime(containing: new.start), old.transaction.product, to: &sums)
            guard let price = old.transaction.countedPrice else { continue }
            // In seconds, so that the product stays a number.
            let (left, all) = ((end.seconds - new.start.seconds), max(end.seconds - old.start.seconds, 1))
            guard let product = price.milliunits.multipliedIfItFits(by: left) else { continue }
            let day = DayOfTime(containing: new.start)
            let kept = price.milliunits - (old.transaction.takenBack.map { price.share($0.percentage) } ?? 0)
            add(min(product / all, kept), .upgradeCredit, day, old.transaction.product, price.currency, to: &sums)
        }
    }

    /// Each trial is paid for by the first paid period after it, unless it has lapsed and another one was begun before that:
    /// what is paid then was won by the other. Trials that follow each other without a gap are paid for together, as where
    /// one offer has several free periods, or another plan took over in the middle of one.
    private func addTrials(to sums: inout FigureSums) {
        var open: [Transaction] = []
        var end: Timestamp?
        for period in periods {
            if period.transaction.isTrial {
                if !period.goesOn(from: end) { open = [] }
                open.append(period.transaction)
            } else if period.isPaid {
                let day = DayOfTime(containing: period.start)
                for trial in open {
                    add(1, .trialsConverted, day, period.transaction.product, to: &sums)
                    add(1, .convertedTrials, DayOfTime(containing: trial.purchasedAt), trial.product, to: &sums)
                }
                open = []
            }
            end = period.end
        }
    }

    private func addRenewals(to sums: inout FigureSums) {
        for (index, period) in periods.enumerated() where period.isPaid {
            let transaction = period.transaction
            guard let end = transaction.expiresAt, !transaction.isUpgraded, transaction.revocation == nil else {
                continue
            }
            // Cut short, as by an upgrade.
            if let movedAt, movedAt.seconds < end.seconds { continue }
            let day = DayOfTime(containing: end)
            add(1, .periodsEnded, day, transaction.product, to: &sums)
            let next = periods.indices.contains(index + 1) ? periods[index + 1].start : movedAt
            guard let next, next <= end.advanced(by: period.renewedWithin) else { continue }
            add(1, .periodsRenewed, day, transaction.product, to: &sums)
        }
    }

    private func addMonths(to sums: inout FigureSums) {
        guard let first = periods.first else { return }
        let began = MonthOfTime(containing: first.start)
        let isOfCohort = !isContinued && !beganUnseen
        if isOfCohort { add(1, .cohort, began.firstDay, first.transaction.product, to: &sums) }
        let standings = standings()
        for index in standings.indices {
            let month = standings[index].month
            let product = product(of: standings[index])
            add(1, .subscribers, month.firstDay, product, to: &sums)
            let step = month.number - began.number
            if (1...Self.stepMax).contains(step), isOfCohort {
                add(1, .cohort, began.firstDay, first.transaction.product, step: step, to: &sums)
            }
            if isLost(standings, at: index) { add(1, .subscribersLost, month.firstDay, product, to: &sums) }
        }
        addMoney(standings.filter { periods[$0.place].isPaid }, to: &sums)
    }

    private func isLost(_ standings: [Standing], at index: Int) -> Bool {
        !standings.continues(at: index) && !(index + 1 == standings.count && goesOnElsewhere)
    }

    private func product(of month: Standing) -> ProductID { periods[month.place].transaction.product }

    /// `nil` when it brings money and nobody knows how much.
    private func monthly(_ month: Standing) -> Price? {
        let transaction = periods[month.place].transaction
        // Elsewhere a period of any plan lasts minutes, or a day: how long it would be nobody says.
        return chain.realm.environment == .production ? transaction.monthlyPrice : transaction.countedPrice
    }

    private func addMoney(_ standings: [Standing], to sums: inout FigureSums) {
        for index in standings.indices {
            let (month, price, product) = (
                standings[index].month, monthly(standings[index]), product(of: standings[index])
            )
            if let price {
                add(price.milliunits, .recurring, month.firstDay, product, price.currency, to: &sums)
            } else {
                add(1, .recurringUnknown, month.firstDay, product, to: &sums)
            }
            let during = month.advanced(by: -1).firstDay
            if index > 0, standings.continues(at: index - 1) {
                addChange(from: monthly(standings[index - 1]), to: price, product, during, to: &sums)
            } else if let price {
                // What goes on under another number goes from one sum to the other, as with another currency. What was paid
                // before it was heard of becomes known.
                let begun = isContinued || beganUnseen ? Measure.recurringExpansion : .recurringNew
                let measure = index > 0 ? Measure.recurringReactivation : begun
                add(price.milliunits, measure, during, product, price.currency, to: &sums)
            }
            if !standings.continues(at: index), let price {
                let measure = isLost(standings, at: index) ? Measure.recurringChurn : .recurringContraction
                add(price.milliunits, measure, month.firstDay, product, price.currency, to: &sums)
            }
        }
    }

    /// Who pays in another currency than before goes from one sum to the other.
    private func addChange(
        from before: Price?,
        to after: Price?,
        _ product: ProductID,
        _ day: DayOfTime,
        to sums: inout FigureSums
    ) {
        if let before, let after, before.currency == after.currency {
            let change = after.milliunits - before.milliunits
            let measure = change > 0 ? Measure.recurringExpansion : .recurringContraction
            add(abs(change), measure, day, product, after.currency, to: &sums)
            return
        }
        if let before { add(before.milliunits, .recurringContraction, day, product, before.currency, to: &sums) }
        if let after { add(after.milliunits, .recurringExpansion, day, product, after.currency, to: &sums) }
    }

    /// At the first moment of each month that lies in a period, by month; the later one of two counts.
    private func standings() -> [Standing] {
        var found: [Standing] = []
        for place in periods.indices {
            let (start, end) = (periods[place].start, periods[place].end)
            guard let end, start < end else { continue }
            var month = MonthOfTime(containing: start)
            if month.start < start { month = month.advanced(by: 1) }
            let last = month.advanced(by: Self.monthsMax)
            while month < last, month.start < end {
                found.note(month, place)
                month = month.advanced(by: 1)
            }
        }
        return found
    }

    private func add(
        _ amount: Int64,
        _ measure: Measure,
        _ day: DayOfTime,
        _ product: ProductID,
        _ currency: String = "",
        step: Int64 = 0,
        to sums: inout FigureSums
    ) {
        sums.add(
            amount,
            to: FigureKey(
                app: chain.app,
                realm: chain.realm,
                measure: measure,
                day: day,
                product: product,
                currency: currency,
                step: step
            )
        )
    }
}

extension [PaidPeriods.Standing] {
    /// Whether the month after one of them is the next.
    fileprivate func continues(at index: Int) -> Bool {
        index + 1 < count && self[index + 1].month == self[index].month.advanced(by: 1)
    }

    /// Periods come by their beginnings, so that a month that is there already is one of the last.
    fileprivate mutating func note(_ month: MonthOfTime, _ place: Int) {
        var index = count
        while index > 0, month < self[index - 1].month { index -= 1 }
        if index > 0, self[index - 1].month == month {
            self[index - 1].place = place
        } else {
            insert(PaidPeriods.Standing(month: month, place: place), at: index)
        }
    }
}

extension Transaction {
    /// The mean month of the calendar, 30.4375 days, in sixteenths of a day.
    private static let monthSixteenths: Int64 = 487

    /// What a period brings in a month: the price of one of whole months through their number, of another one by its days.
    fileprivate var monthlyPrice: Price? {
        guard let price = countedPrice, let expiresAt else { return nil }
        let days = (expiresAt.seconds - purchasedAt.seconds + 43_200) / 86_400
        let months: Int64? =
            switch days {
            // No plan's: so short is what ends at once.
            case ...0: 1
            case 28...31: 1
            case 59...62: 2
            case 89...92: 3
            case 181...184: 6
            case 365...366: 12
            default: nil
            }
        let monthly = months.map { price.milliunits / $0 } ?? price.milliunits * Self.monthSixteenths / (16 * days)
        return Price(milliunits: monthly, currency: price.currency)
    }
}

extension Int64 {
    fileprivate func multipliedIfItFits(by other: Int64) -> Int64? {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? nil : product
    }
}
