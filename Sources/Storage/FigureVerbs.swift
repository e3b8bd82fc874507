package import PurchaseModel

/// The questions about figures over time.
package protocol FigureReader {
    /// Sums by day, then product, storefront, currency and step, as far as they are kept apart; what comes to nothing is
    /// not among them. At most ``FigureRow/listedMax``.
    func figures(_ question: FigureQuestion) throws(StoreFailure) -> [FigureRow]

    /// By realm, measure, day, product, storefront, currency and step.
    func walkFigures(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedFigure>

    /// Whether something of an app was recorded before there were figures, or before they were counted as they are now, and
    /// was not counted since.
    func figuresAreDue(app: AppID) throws(StoreFailure) -> Bool

    /// How often an app's figures were corrected: a recount holds for as long as this stays as it was.
    func figureCorrections(app: AppID) throws(StoreFailure) -> Int64

    /// What was refused of an app from a day on, by day, then reason; at most ``FigureRow/listedMax``.
    func refusals(app: AppID, since day: DayOfTime) throws(StoreFailure) -> [RefusalDay]

    /// An app's subscriptions in a state on one side of the wall, by chain after one of them; the limit is brought between
    /// 1 and `RecordedSubscription.listedMax`.
    func subscriptions(
        app: AppID,
        realm: Realm,
        state: SubscriptionState,
        after original: TransactionID?,
        limit: Int
    ) throws(StoreFailure) -> SubscriptionPage
}

/// What is written of figures beside what decisions add to them.
package protocol FigureVerbs {
    /// Adds to the figures what their recount found missing, and notes that an app's are complete.
    ///
    /// - Parameters:
    ///   - app: whose.
    ///   - sums: what is missing.
    ///   - corrections: ``FigureReader/figureCorrections(app:)``, out of the snapshot that was counted.
    /// - Returns: false when they were corrected since: what was missing need not be missing any more, and nothing is
    ///   written.
    /// - Throws: ``StoreFailure``.
    func correctFigures(
        of app: AppID,
        by sums: FigureSums,
        after corrections: Int64
    ) throws(StoreFailure) -> Bool
}
