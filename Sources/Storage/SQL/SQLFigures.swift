import PurchaseModel

// Figures over time. What decisions add is gathered, and written once before it is asked for, or committed.
extension SQLTransaction {
    private var sums: SumQueries { SumQueries(connection: connection, apps: apps) }

    /// Writes what is still gathered: the last act of every write.
    func finish() throws(StoreFailure) {
        if gathered.isEmpty { return }
        let figures = gathered
        gathered = FigureSums()
        try sums.add(figures)
    }

    func figures(_ question: FigureQuestion) throws(StoreFailure) -> [FigureRow] {
        try finish()
        return try sums.list(question)
    }

    func walkFigures(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedFigure> {
        try finish()
        return try WalkQueries(connection: connection, apps: apps).figures(app: app, after: place, limit: limit)
    }

    func figuresAreDue(app: AppID) throws(StoreFailure) -> Bool { try sums.areDue(app: app) }

    func figureCorrections(app: AppID) throws(StoreFailure) -> Int64 { try sums.corrections(app: app) }

    func correctFigures(
        of app: AppID,
        by figures: FigureSums,
        after corrections: Int64
    ) throws(StoreFailure) -> Bool {
        guard try sums.noteCorrection(app, after: corrections) else { return false }
        gathered.add(figures)
        try sums.noteCounted(app)
        return true
    }

    func refusals(app: AppID, since day: DayOfTime) throws(StoreFailure) -> [RefusalDay] {
        try RefusalQueries(connection: connection, apps: apps).days(app: app, since: day)
    }

    func subscriptions(
        app: AppID,
        realm: Realm,
        state: SubscriptionState,
        after original: TransactionID?,
        limit: Int
    ) throws(StoreFailure) -> SubscriptionPage {
        let subscriptions = SubscriptionQueries(connection: connection, apps: apps)
        return try subscriptions.list(app: app, realm: realm, state: state, after: original, limit: limit)
    }
}
