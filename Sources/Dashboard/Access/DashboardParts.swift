package import PurchaseModel
package import Storage

/// What the dashboard needs from the rest of the house.
package struct DashboardParts: Sendable {
    package var store: any Store
    package var clock: any WallClock
    /// The apps that are configured, in order.
    package var apps: [AppID]
    package var passwords: PasswordDesk
    package var signInGuard: SignInGuard
    /// The digest of the token in the link to the first account; `nil` when there are accounts.
    package var firstRun: [UInt8]?
    /// The verdict that a reason leads to; `nil` for a word that is none.
    package var verdict: @Sendable (String) -> String?
    /// What a verifier says of a proof, as text for people.
    package var explain: @Sendable ([UInt8]) -> String
    package var server: RunningServer

    package init(
        store: any Store,
        clock: any WallClock,
        apps: [AppID],
        passwords: PasswordDesk = PasswordDesk(),
        signInGuard: SignInGuard = SignInGuard(),
        firstRun: [UInt8]? = nil,
        verdict: @escaping @Sendable (String) -> String?,
        explain: @escaping @Sendable ([UInt8]) -> String,
        server: RunningServer = RunningServer()
    ) {
        self.store = store
        self.clock = clock
        self.apps = apps
        self.passwords = passwords
        self.signInGuard = signInGuard
        self.firstRun = firstRun
        self.verdict = verdict
        self.explain = explain
        self.server = server
    }

    /// Where the first account is made, below the server's own address.
    package static func firstAccountPath(_ token: Token) -> String {
        Address("/first-account", [(name: "token", value: token.text)]).text
    }
}
