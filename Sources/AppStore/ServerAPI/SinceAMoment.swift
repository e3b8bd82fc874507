import AppleFormats
package import PurchaseModel

// What jobs ask, for who knows our words only.
extension AppStoreServerClient {
    /// - Parameters:
    ///   - start: of what Apple sent; it keeps 180 days, in the sandbox 30.
    ///   - end: later than the start.
    ///   - store: where.
    /// - Returns: its pages, in the order of sending.
    package func notifications(
        from start: Timestamp,
        until end: Timestamp,
        in store: StoreEnvironment
    ) -> VerifiedPages<NotificationHistoryPage> {
        notifications(
            NotificationHistoryRequest(startDate: start.milliseconds, endDate: end.milliseconds),
            in: store
        )
    }

    /// What a customer bought since a moment, and what became of it, page after page.
    ///
    /// - Parameters:
    ///   - id: any of the customer's.
    ///   - start: of purchases.
    ///   - revision: of the page before; `nil` for the first.
    ///   - store: where.
    /// - Returns: its pages.
    package func history(
        ofAny id: TransactionID,
        since start: Timestamp,
        after revision: String? = nil,
        in store: StoreEnvironment
    ) -> VerifiedPages<HistoryPage> {
        var query = HistoryQuery()
        query.startDate = start.milliseconds
        return history(ofAny: id, matching: query, after: revision, in: store)
    }
}
