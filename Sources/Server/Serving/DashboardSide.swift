import API
import AppStore
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

    init(
        _ settings: ServeSettings,
        _ house: House,
        _ store: any Store,
        _ clock: SystemClock,
        _ simulator: SimulatorLine?
    ) async {
        let isShared = settings.database.url != nil
        let token = await DashboardParts.firstAccountToken(in: store, isShared: isShared, at: clock.now)
        firstAccount = token.map(DashboardParts.firstAccountPath)
        let (verifier, accounts, sender, feed) = (house.verifier, house.work.accounts, house.sender, house.feed)
        let parts = DashboardParts(
            store: store,
            clock: clock,
            apps: settings.apps,
            firstRun: token?.digest,
            verdict: { Reason(rawValue: $0)?.verdict.rawValue },
            meaning: { Reason(rawValue: $0)?.meaning },
            explain: { bytes in
                ReportText.lines(file: "proof", verifier.examine(bytes, expecting: Expectation()).report)
            },
            resync: ResyncDesk(queue: house.work.queue) { accounts[$0]?.reach(of: $1) ?? .nothing },
            changed: {
                sender.wake()
                feed.wake()
            },
            server: RunningServer(
                doors: Self.doors(settings),
                contacts: house.contacts,
                keys: settings.keys,
                sender: house.sender,
                intake: house.parts.notifications,
                simulator: simulator
            )
        )
        routes = dashboardRoutes(parts).map(\.route)
    }

    private static func doors(_ settings: ServeSettings) -> [AppID: RunningServer.AppleDoor] {
        var doors: [AppID: RunningServer.AppleDoor] = [:]
        for app in settings.apps {
            guard let store = settings.appStores[app.id] else { continue }
            doors[app.id] = RunningServer.AppleDoor(
                hasKey: store.key != nil,
                hasSharedSecret: store.sharedSecret != nil,
                isSimulated: !store.hosts.isApple,
                notificationPath: "/v1/apple/notifications/\(store.notificationToken ?? app.id.text)"
            )
        }
        return doors
    }
}
