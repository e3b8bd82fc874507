import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Verification

/// The pages for people, and the link by which the first of them makes an account.
struct DashboardSide: Sendable {
    let routes: [Route]
    /// The path with its one-time token; `nil` when there are accounts.
    let firstAccount: String?

    init(_ house: House, _ apps: [AppPolicy], _ store: any Store, _ clock: SystemClock) async {
        let isEmpty = try? await store.read { reader throws(StoreFailure) in try reader.admins().isEmpty }
        let token = isEmpty == true ? Token() : nil
        firstAccount = token.map(DashboardParts.firstAccountPath)
        let (verifier, accounts, sender, feed) = (house.verifier, house.work.accounts, house.sender, house.feed)
        let parts = DashboardParts(
            store: store,
            clock: clock,
            apps: apps,
            firstRun: token?.digest,
            verdict: { Reason(rawValue: $0)?.verdict.rawValue },
            explain: { bytes in
                ReportText.lines(file: "proof", verifier.examine(bytes, expecting: Expectation()).report)
            },
            resync: ResyncDesk(queue: house.work.queue) { accounts[$0]?.reach(of: $1) ?? .nothing },
            changed: {
                sender.wake()
                feed.wake()
            }
        )
        routes = dashboardRoutes(parts).map(\.route)
    }
}
