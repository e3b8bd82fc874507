import AppleFormats
package import PurchaseModel

// The whole history between two moments, for who knows our words only.
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
    ) -> VerifiedPages<NotificationPage> {
        notifications(
            NotificationHistoryRequest(startDate: start.milliseconds, endDate: end.milliseconds),
            in: store
        )
    }
}
