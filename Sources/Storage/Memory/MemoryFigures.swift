import PurchaseModel

// Figures over time, added up anew for each question.
extension MemoryTransaction {
    func add(_ sums: FigureSums) {
        if sums.isEmpty { return }
        ledger.figures.add(sums)
        undo.append { $0.figures.subtract(sums) }
    }

    func figureCorrections(app: AppID) -> Int64 { ledger.figureCorrections[app] ?? 0 }

    func correctFigures(of app: AppID, by sums: FigureSums, after corrections: Int64) -> Bool {
        guard figureCorrections(app: app) == corrections else { return false }
        put(corrections + 1, at: \.figureCorrections[app])
        add(sums)
        return true
    }

    /// There is no memory from before figures were counted as they are.
    func figuresAreDue(app: AppID) -> Bool { false }

    func figures(_ question: FigureQuestion) -> [FigureRow] {
        var sums: [FigureRow: Int64] = [:]
        for (key, amount) in ledger.figures.values {
            guard key.app == question.app, key.realm == question.realm, key.measure == question.measure,
                question.days.contains(key.day)
            else { continue }
            let row = FigureRow(
                day: question.by.contains(.day) ? key.day : nil,
                product: question.by.contains(.product) ? key.product : nil,
                storefront: question.by.contains(.storefront) ? key.storefront : "",
                currency: key.currency,
                step: key.step,
                amount: 0
            )
            sums[row, default: 0] += amount
        }
        let rows = sums.filter { $0.value != 0 }.map { row, amount in
            var row = row
            row.amount = amount
            return row
        }
        return Array(rows.sorted { Self.place(of: $0) < Self.place(of: $1) }.prefix(FigureRow.listedMax))
    }

    func walkFigures(app: AppID, after place: WalkPlace?, limit: Int) -> WalkPage<WalkedFigure> {
        let found = ledger.figures.values.filter { $0.key.app == app }.map { key, amount in
            (
                [
                    WalkPlace.Part.integer(key.realm.map(RealmCode.wanted) ?? -1), .text(key.measure.rawValue),
                    .integer(key.day.number), .text(key.product?.text ?? ""), .text(key.storefront),
                    .text(key.currency), .integer(key.step),
                ],
                WalkedFigure(key: key, amount: amount)
            )
        }
        return Self.page(found, after: place, limit)
    }

    func refusals(app: AppID, since day: DayOfTime) -> [RefusalDay] {
        let since = HourOfTime(containing: max(day, DayOfTime(number: 0)).start)
        var days: [RefusalDay: Int] = [:]
        for (key, count) in ledger.refusals where key.app == app && key.hour >= since {
            let day = DayOfTime(containing: key.hour.start)
            days[RefusalDay(day: day, reason: key.reason, count: 0), default: 0] += count
        }
        let found = days.map { RefusalDay(day: $0.key.day, reason: $0.key.reason, count: $0.value) }
        let sorted = found.sorted { left, right in
            left.day == right.day
                ? left.reason.utf8.lexicographicallyPrecedes(right.reason.utf8) : left.day < right.day
        }
        return Array(sorted.prefix(FigureRow.listedMax))
    }

    func subscriptions(
        app: AppID,
        realm: Realm,
        state: SubscriptionState,
        after original: TransactionID?,
        limit: Int
    ) -> SubscriptionPage {
        let limit = min(max(limit, 1), RecordedSubscription.listedMax)
        let found = ledger.subscriptions.values.filter { row in
            row.chain.app == app && row.chain.realm == realm && row.state == state
                && original.map { $0 < row.chain.original } ?? true
        }
        let sorted = found.sorted { $0.chain.original < $1.chain.original }
        let page = Array(sorted.prefix(limit))
        return SubscriptionPage(
            subscriptions: page,
            next: sorted.count > limit ? page.last?.chain.original : nil
        )
    }

    /// The names are ASCII, and sorted by their bytes.
    private static func place(of row: FigureRow) -> (Int64, String, String, String, Int64) {
        (row.day?.number ?? 0, row.product?.text ?? "", row.storefront, row.currency, row.step)
    }
}
