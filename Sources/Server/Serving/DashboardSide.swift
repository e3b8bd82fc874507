import Dashboard
import HTTP
import PurchaseModel
import Storage
import Verification

/// The pages for people, and the link by which the first of them makes an account.
struct DashboardSide: Sendable {
    let routes: [Route]
    /// The path with its one-time token; `nil` when there are accounts.
    let firstAccount: String?

    init(_ apps: [AppID], _ verifier: Verifier, _ store: any Store, _ clock: SystemClock) async {
        let isEmpty = try? await store.read { reader throws(StoreFailure) in try reader.admins().isEmpty }
        let token = isEmpty == true ? Token() : nil
        firstAccount = token.map(DashboardParts.firstAccountPath)
        let parts = DashboardParts(
            store: store,
            clock: clock,
            apps: apps,
            firstRun: token?.digest,
            verdict: { Reason(rawValue: $0)?.verdict.rawValue },
            explain: { bytes in
                ReportText.lines(file: "proof", verifier.examine(bytes, expecting: Expectation()).report)
            }
        )
        routes = dashboardRoutes(parts).map(\.route)
    }
}
