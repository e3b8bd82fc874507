package import PurchaseModel
package import Storage

// Figures over time.
extension PassingTransaction {
    package func figures(_ question: FigureQuestion) throws(StoreFailure) -> [FigureRow] {
        try base.figures(question)
    }

    package func walkFigures(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure)
        -> WalkPage<WalkedFigure>
    {
        try base.walkFigures(app: app, after: place, limit: limit)
    }

    package func figuresAreDue(app: AppID) throws(StoreFailure) -> Bool {
        try base.figuresAreDue(app: app)
    }

    package func refusals(app: AppID, since day: DayOfTime) throws(StoreFailure) -> [RefusalDay] {
        try base.refusals(app: app, since: day)
    }

    package func subscriptions(
        app: AppID,
        realm: Realm,
        state: SubscriptionState,
        after original: TransactionID?,
        limit: Int
    ) throws(StoreFailure) -> SubscriptionPage {
        try base.subscriptions(app: app, realm: realm, state: state, after: original, limit: limit)
    }

    package func figureCorrections(app: AppID) throws(StoreFailure) -> Int64 {
        try base.figureCorrections(app: app)
    }

    package func correctFigures(
        of app: AppID,
        by sums: FigureSums,
        after corrections: Int64
    ) throws(StoreFailure) -> Bool {
        try base.correctFigures(of: app, by: sums, after: corrections)
    }
}
