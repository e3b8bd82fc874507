import AppStore
import PurchaseModel
import Storage

/// Takes in what Apple says to have sent within some time, and counts what of it had not arrived.
struct NotificationFetch: Sendable {
    let intake: NotificationIntake

    struct Figures: Sendable {
        var sent: Int64 = 0
        var arrived: Int64 = 0
        var recovered: Int64 = 0
        /// Those of them that nobody had fetched before.
        var new: Int64 = 0
        /// How many could not be taken in: our configuration may be wrong, or a certificate of Apple's be unknown here.
        var untaken = 0
        /// What Apple's clock showed at first, where it says so: nothing of what it has sent since is there.
        var answeredAt: Timestamp?
    }

    /// - Parameters:
    ///   - start: of what was sent.
    ///   - end: later than the start.
    ///   - store: where.
    ///   - account: how Apple is asked about the app.
    /// - Returns: how many there were.
    /// - Throws: `AppStoreFailure`, `StoreFailure`; then a part of it has been taken in.
    func fetch(
        from start: Timestamp,
        until end: Timestamp,
        in store: StoreEnvironment,
        _ account: AppleAccount
    ) async throws -> Figures {
        var figures = Figures()
        for try await page in account.server.notifications(from: start, until: end, in: store) {
            figures.untaken += page.unproved.count
            figures.answeredAt = figures.answeredAt ?? page.answeredAt
            for record in page.records {
                let outcome = try await intake.take(
                    Array(record.signedPayload.utf8),
                    for: account.app,
                    arrival: .fetched
                )
                figures.sent += 1
                // One that an earlier look fetched, and was cut off before it could count, was missing all the same.
                guard case .kept(let kept, let isNew) = outcome else {
                    figures.untaken += 1
                    continue
                }
                if isNew { figures.new += 1 }
                if isNew || kept.arrival == .fetched { figures.recovered += 1 } else { figures.arrived += 1 }
            }
        }
        return figures
    }
}
