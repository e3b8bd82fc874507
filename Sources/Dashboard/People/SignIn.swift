import Crypto
import HTTP
import PurchaseModel
import Storage

/// Signing in and out, and the first account of all.
struct SignIn: Sendable {
    let parts: DashboardParts
    let sessions: Sessions

    // MARK: Signing in

    func show(_ request: HTTPRequest) async throws(StoreFailure) -> HTTPResponse {
        let fields = FormFields((request.query ?? "").utf8)
        let isFirst = try await parts.store.read { reader throws(StoreFailure) in try reader.admins().isEmpty }
        return page(request, next: fields?["next"] ?? "", isFirst: isFirst)
    }

    func send(_ request: HTTPRequest) async throws(StoreFailure) -> HTTPResponse {
        guard let fields = SentForm.fields(of: request) else { return Notices.malformed() }
        guard SentForm.isOurs(request.fields),
            Cookie.visitor(in: request.fields)?.vouches(for: fields[Form.tokenField.description]) == true
        else { return Notices.strangeForm() }
        guard let isSecure = Approach.isSecure(request.fields) else { return Self.needsTLS() }
        guard let name = AdminName(fields["name"]) else { return refuse(request, fields) }
        let now = parts.clock.now
        let attempt = SignInGuard.Attempt(
            name: name,
            remote: request.remote,
            device: try await sessions.device(request.fields, of: name)
        )
        if let wait = parts.signInGuard.begin(attempt, at: now) { return Notices.wait(wait) }
        let account = try await parts.store.read { reader throws(StoreFailure) in try reader.admin(name) }
        let hash = account.flatMap { $0.isEnabled ? PasswordHash(kept: $0.password) : nil }
        guard let fits = await parts.passwords.fits(fields["password"], hash) else { return Notices.busy() }
        guard fits, let account else {
            let refusal = Self.refusal(of: name.text, request.remote.description, at: parts.clock.now)
            try await parts.store.write { write throws(StoreFailure) in try write.noteAdminAction(refusal) }
            return refuse(request, fields)
        }
        parts.signInGuard.succeeded(attempt)
        return try await start(request, account, isSecure, next: fields["next"])
    }

    /// - Parameters:
    ///   - request: what the browser sent.
    ///   - account: as it was when its password was compared.
    ///   - isSecure: whether the browser came over TLS.
    ///   - next: where it wanted to go.
    /// - Returns: the way there; or the page anew, where the account was changed since.
    /// - Throws: `StoreFailure`.
    private func start(
        _ request: HTTPRequest,
        _ account: AdminAccount,
        _ isSecure: Bool,
        next: String
    ) async throws(StoreFailure) -> HTTPResponse {
        let (token, now, old) = (Token(), parts.clock.now, Cookie.session(in: request.fields)?.digest)
        let (name, remote) = (account.name, request.remote.description)
        let action = AdminAction(at: now, admin: name, remote: remote, action: "signed_in")
        let refusal = Self.refusal(of: name.text, remote, at: now)
        let session = AdminSession(digest: token.digest, admin: name, startedAt: now, seenAt: now)
        let isStarted = try await parts.store.write { write throws(StoreFailure) in
            // A new password ends the sessions that there are: one that begins by the old one must not come after it.
            guard let kept = try write.holdAdmin(name), kept.isEnabled, kept.version == account.version else {
                try write.noteAdminAction(refusal)
                return false
            }
            if let old { _ = try write.endAdminSession(old, at: now) }
            let known = Duration.seconds(Sessions.knownDays * 86_400)
            _ = try write.sweepAdminSessions(startedBefore: now.advanced(by: .zero - known), limit: 100)
            try write.startAdminSession(session)
            try write.noteAdminAction(action)
            return true
        }
        guard isStarted else {
            return page(request, next: next, fault: "The account was changed at the same time. Sign in again.")
        }
        var response = Notices.leave(for: Address(returning: next) ?? Address(""))
        response.fields.append(
            "Set-Cookie",
            Cookie.session(token, isSecure: isSecure, days: Sessions.knownDays)
        )
        return response
    }

    /// Ends the session. The cookie stays in the browser, worth nothing but that it is known.
    func out(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let digest = visit.token.digest
        try await parts.store.write { write throws(StoreFailure) in
            _ = try write.endAdminSession(digest, at: visit.now)
            try write.noteAdminAction(visit.action("signed_out"))
        }
        return Notices.leave(for: Address("/sign-in"))
    }

    private static func refusal(of name: String, _ remote: String, at now: Timestamp) -> AdminAction {
        AdminAction(at: now, admin: nil, remote: remote, action: AdminAction.signInRefused, subject: name)
    }

    // MARK: The first account

    func showFirst(_ request: HTTPRequest) async throws(StoreFailure) -> HTTPResponse {
        let link = FormFields((request.query ?? "").utf8)?["token"] ?? ""
        guard await isFirst(link) else { return Self.noFirst() }
        return firstPage(request, link, fault: nil)
    }

    func sendFirst(_ request: HTTPRequest) async throws(StoreFailure) -> HTTPResponse {
        guard let fields = SentForm.fields(of: request) else { return Notices.malformed() }
        guard SentForm.isOurs(request.fields),
            Cookie.visitor(in: request.fields)?.vouches(for: fields[Form.tokenField.description]) == true
        else { return Notices.strangeForm() }
        guard await isFirst(fields["token"]) else { return Self.noFirst() }
        guard let isSecure = Approach.isSecure(request.fields) else { return Self.needsTLS() }
        guard let name = AdminName(fields["name"]) else {
            return firstPage(request, fields["token"], fault: Accounts.nameRule)
        }
        if let fault = PasswordDesk.fault(fields["password"], of: name.text) {
            return firstPage(request, fields["token"], fault: fault)
        }
        guard let hash = await parts.passwords.hash(fields["password"]) else { return Notices.busy() }
        let now = parts.clock.now
        let account = AdminAccount(name: name, role: .admin, password: hash.text, createdAt: now)
        let action = AdminAction(
            at: now,
            admin: name,
            remote: request.remote.description,
            action: "first_account_made",
            subject: name.text
        )
        let isMade = try await parts.store.write { write throws(StoreFailure) in
            guard try write.createFirstAdmin(account) else { return false }
            try write.noteAdminAction(action)
            return true
        }
        guard isMade else { return Self.noFirst() }
        return try await start(request, account, isSecure, next: "")
    }

    private func isFirst(_ link: String) async -> Bool {
        guard let digest = Token(link.utf8)?.digest else { return false }
        let isOwn = parts.firstRun.map { MessageAuthentication.areEqual(digest, $0) } ?? false
        let oldest = DashboardParts.oldestLink(at: parts.clock.now)
        let isGood = try? await parts.store.read { reader throws(StoreFailure) in
            guard try reader.admins().isEmpty else { return false }
            // Another server's, which the same database has: whoever follows a link need not come to the one that logged it.
            if isOwn { return true }
            return try reader.firstAccountLink(digest).map { $0 >= oldest } ?? false
        }
        return isGood == true
    }

    // MARK: Pages

    private func refuse(_ request: HTTPRequest, _ fields: FormFields) -> HTTPResponse {
        page(request, next: fields["next"], fault: "The name or the password is wrong.")
    }

    private func page(
        _ request: HTTPRequest,
        next: String,
        isFirst: Bool = false,
        fault: String? = nil
    ) -> HTTPResponse {
        let visitor = Cookie.visitor(in: request.fields) ?? Token()
        var response = Page("Sign in", visit: nil) {
            if isFirst {
                element("p") {
                    "There is no account yet. The server's log has a link, under first_account, that makes the first."
                }
            }
            Form.fault(fault)
            Form.post(Address("/sign-in"), visitor, label: "Sign in") {
                empty("input", .word("type", "hidden"), .word("name", "next"), .value(next))
                Form.field("name", "Name", autocomplete: "username")
                Form.field("password", "Password", type: "password", autocomplete: "current-password")
            }
        }.response(fault == nil ? .ok : .forbidden)
        response.fields.append("Set-Cookie", Cookie.visitor(visitor))
        return response
    }

    private func firstPage(_ request: HTTPRequest, _ link: String, fault: String?) -> HTTPResponse {
        let visitor = Cookie.visitor(in: request.fields) ?? Token()
        var response = Page("Make the first account", visit: nil) {
            element("p") { "It is an admin's: it can make the others. \(Accounts.passwordRule)" }
            Form.fault(fault)
            Form.post(Address("/first-account"), visitor, label: "Make the account") {
                empty("input", .word("type", "hidden"), .word("name", "token"), .value(link))
                Form.field("name", "Name", autocomplete: "username")
                Form.field("password", "Password", type: "password", autocomplete: "new-password")
            }
        }.response(fault == nil ? .ok : .unprocessableContent)
        response.fields.append("Set-Cookie", Cookie.visitor(visitor))
        return response
    }

    private static func noFirst() -> HTTPResponse {
        Page("This link is not valid", visit: nil) {
            element("p") { "There is an account already, or the link is too old: the log has one for each start." }
            element("p") { element("a", .href(Address("/sign-in"))) { "Sign in" } }
        }.response(.forbidden)
    }

    private static func needsTLS() -> HTTPResponse {
        Page("This connection can be read by others", visit: nil) {
            element("p") { "Sign in over HTTPS, or on the machine itself: a password does not go over an open line." }
        }.response(.forbidden)
    }
}
