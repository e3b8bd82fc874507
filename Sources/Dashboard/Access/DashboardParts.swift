package import Pipeline
package import PurchaseModel
package import Storage

/// What the dashboard needs from the rest of the house.
package struct DashboardParts: Sendable {
    package var store: any Store
    package var clock: any WallClock
    /// The apps that are configured, in order, and how each delivers.
    package var policies: [AppPolicy]
    package var passwords: PasswordDesk
    package var signInGuard: SignInGuard
    /// The digest of the token in the link to the first account; `nil` when there are accounts.
    package var firstRun: [UInt8]?
    /// The verdict that a reason leads to; `nil` for a word that is none.
    package var verdict: @Sendable (String) -> String?
    /// What a reason means, in a sentence; `nil` for a word that is none.
    package var meaning: @Sendable (String) -> String?
    /// What a verifier says of a proof, as text for people.
    package var explain: @Sendable ([UInt8]) -> String
    package var server: RunningServer
    /// Has Apple asked now.
    package var resync: ResyncDesk
    /// Called when something was written that webhooks and feeds wait for.
    package var changed: @Sendable () -> Void

    package init(
        store: any Store,
        clock: any WallClock,
        apps: [AppPolicy],
        passwords: PasswordDesk = PasswordDesk(),
        signInGuard: SignInGuard = SignInGuard(),
        firstRun: [UInt8]? = nil,
        verdict: @escaping @Sendable (String) -> String?,
        meaning: @escaping @Sendable (String) -> String?,
        explain: @escaping @Sendable ([UInt8]) -> String,
        resync: ResyncDesk = .none,
        changed: @escaping @Sendable () -> Void = {},
        server: RunningServer = RunningServer()
    ) {
        self.store = store
        self.clock = clock
        policies = apps
        self.passwords = passwords
        self.signInGuard = signInGuard
        self.firstRun = firstRun
        self.verdict = verdict
        self.meaning = meaning
        self.explain = explain
        self.server = server
        self.resync = resync
        self.changed = changed
    }

    package var apps: [AppID] { policies.map(\.id) }

    func policy(_ app: AppID) -> AppPolicy? { policies.first { $0.id == app } }

    /// So long a link to the first account is good on other servers than the one that logged it, and after a new start.
    private static let linkLife = Duration.seconds(86_400)

    static func oldestLink(at now: Timestamp) -> Timestamp { now.advanced(by: .zero - linkLife) }

    /// Makes the link to the first account, and makes it known to all servers of a shared database. A server alone with its
    /// ledger writes nothing for it: one whose disk is full starts as well, and answers what can be answered.
    ///
    /// - Returns: the token in it; `nil` when there are accounts. When that cannot be read, nobody makes one.
    package static func firstAccountToken(in store: any Store, isShared: Bool, at now: Timestamp) async -> Token? {
        let isEmpty = try? await store.read { reader throws(StoreFailure) in try reader.admins().isEmpty }
        guard isEmpty == true else { return nil }
        let token = Token()
        guard isShared else { return token }
        // Where it cannot be written, it is good on the server that made it.
        try? await store.write { write throws(StoreFailure) in
            try write.keepFirstAccountLink(token.digest, madeAt: now, forgettingBefore: oldestLink(at: now))
        }
        return token
    }

    /// Where the first account is made, below the server's own address.
    package static func firstAccountPath(_ token: Token) -> String {
        Address("/first-account", [(name: "token", value: token.text)]).text
    }
}
