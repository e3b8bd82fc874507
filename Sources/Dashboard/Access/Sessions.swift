package import HTTP
package import PurchaseModel
package import Storage

/// Who is signed in, and until when.
package struct Sessions: Sendable {
    /// Without a request for that long a session is over.
    package static let idleMax = Duration.seconds(2 * 3_600)
    /// A session is over then, whatever happens.
    package static let lengthMax = Duration.seconds(12 * 3_600)
    /// How long a browser is known that was signed in: see ``SignInGuard``.
    static let knownDays = 90
    /// A page does not write each time that it is looked at.
    private static let noteEvery = Duration.seconds(60)

    private let store: any Store
    private let clock: any WallClock

    package init(store: any Store, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    /// Somebody who is signed in, as the accounts have them now.
    package struct SignedIn: Sendable {
        package let account: AdminAccount
        package let token: Token
    }

    /// `nil` when nobody is, or no longer.
    package func find(_ fields: HTTPFields) async throws(StoreFailure) -> SignedIn? {
        guard let token = Cookie.session(in: fields) else { return nil }
        let now = clock.now
        let digest = token.digest
        let found = try await store.read { reader throws(StoreFailure) -> (AdminSession, AdminAccount)? in
            guard let session = try reader.adminSession(digest), Sessions.goesOn(session, at: now),
                let account = try reader.admin(session.admin), account.isEnabled
            else { return nil }
            return (session, account)
        }
        guard let (session, account) = found else { return nil }
        if session.seenAt.duration(to: now) >= Self.noteEvery {
            let goesOn = try await store.write { write throws(StoreFailure) in
                try write.noteAdminSession(digest, seenAt: now)
            }
            guard goesOn else { return nil }
        }
        return SignedIn(account: account, token: token)
    }

    package static func goesOn(_ session: AdminSession, at now: Timestamp) -> Bool {
        session.endedAt == nil && session.startedAt.duration(to: now) < lengthMax
            && session.seenAt.duration(to: now) < idleMax
    }

    /// The digest of the session that this browser has or had in the name of the account.
    package func device(_ fields: HTTPFields, of name: AdminName) async throws(StoreFailure) -> [UInt8]? {
        guard let digest = Cookie.session(in: fields)?.digest else { return nil }
        let session = try await store.read { reader throws(StoreFailure) in try reader.adminSession(digest) }
        return session?.admin == name ? digest : nil
    }
}
