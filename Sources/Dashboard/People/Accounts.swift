import Crypto
import HTTP
import PurchaseModel
import Storage

/// Who may use the dashboard, and one's own account.
struct Accounts: Sendable {
    static let nameRule = "A name is 1 to 255 printable ASCII characters without spaces."
    static let passwordRule = "A password has at least \(PasswordDesk.lengthMin) characters."

    let parts: DashboardParts

    // MARK: All accounts

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        try await page(visit, fault: nil)
    }

    private func page(_ visit: Visit, fault: String?) async throws(StoreFailure) -> HTTPResponse {
        let accounts = try await parts.store.read { reader throws(StoreFailure) in try reader.admins() }
        return Page("Accounts", place: Address("/accounts"), visit: visit) {
            Form.fault(fault)
            Table("Accounts of the dashboard", ["Name", "Role", "Made", "Change"]) {
                for account in accounts {
                    element("tr") {
                        element("th", .word("scope", "row")) { element("bdi") { account.name.text } }
                        element("td") { Self.word(account) }
                        element("td") { Texts.moment(account.createdAt) }
                        element("td") { change(account, visit) }
                    }
                }
            }.html
            element("h2") { "New account" }
            element("p") {
                "A viewer sees, an operator acts on purchases, an admin also makes accounts. \(Self.passwordRule)"
            }
            visit.form(Address("/accounts/make"), label: "Make the account") {
                Form.field("name", "Name")
                Form.field("password", "Password", type: "password", autocomplete: "new-password")
                roles(selected: .viewer, id: "role")
            }
        }.response(fault == nil ? .ok : .unprocessableContent)
    }

    /// What it may do, as the form and the log say it.
    private static func word(_ account: AdminAccount) -> String {
        account.isEnabled ? account.role.rawValue : "disabled"
    }

    @HTMLBuilder private func change(_ account: AdminAccount, _ visit: Visit) -> HTML {
        if account.name == visit.account.name {
            "This is you."
        } else {
            visit.form(Address("/accounts/change"), label: "Save") {
                empty("input", .word("type", "hidden"), .word("name", "name"), .value(account.name.text))
                empty("input", .word("type", "hidden"), .word("name", "version"), .value(String(account.version)))
                element("select", .word("name", "role"), .label("Role of \(account.name.text)")) {
                    for role in AdminRole.allCases { option(role.rawValue, account.isEnabled && account.role == role) }
                    option("disabled", !account.isEnabled)
                }
            }
        }
    }

    private func roles(selected: AdminRole, id: StaticString) -> HTML {
        element("p", .class("field")) {
            element("label", .word("for", id)) { "Role" }
            element("select", .id(id), .word("name", "role")) {
                for role in AdminRole.allCases { option(role.rawValue, role == selected) }
            }
        }
    }

    private func option(_ word: String, _ isSelected: Bool) -> HTML {
        isSelected
            ? element("option", .value(word), .flag("selected")) { word }
            : element("option", .value(word)) { word }
    }

    func make(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let name = AdminName(visit.fields["name"]) else { return try await page(visit, fault: Self.nameRule) }
        guard let role = AdminRole(rawValue: visit.fields["role"]) else { return Notices.malformed() }
        if let fault = PasswordDesk.fault(visit.fields["password"], of: name.text) {
            return try await page(visit, fault: fault)
        }
        guard let hash = await parts.passwords.hash(visit.fields["password"]) else { return Notices.busy() }
        let account = AdminAccount(name: name, role: role, password: hash.text, createdAt: visit.now)
        let isMade = try await parts.store.write { write throws(StoreFailure) -> Bool? in
            // While the password was hashed, who asks may have been signed out.
            guard let actor = try write.holdAdmin(visit.account.name), actor.isEnabled, actor.role == .admin,
                let session = try write.adminSession(visit.token.digest), Sessions.goesOn(session, at: visit.now)
            else { return nil }
            guard try write.admin(name) == nil, try write.admins().count < AdminAccount.listedMax else { return false }
            try write.createAdmin(account)
            try write.noteAdminAction(visit.action("account_made", of: name.text, role.rawValue))
            return true
        }
        guard let isMade else { return Notices.leave(for: Address("/sign-in")) }
        return isMade
            ? Notices.leave(for: Address("/accounts"))
            : try await page(visit, fault: "There is an account of that name, or there are too many.")
    }

    func change(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let word = visit.fields["role"]
        let role = AdminRole(rawValue: word)
        guard let name = AdminName(visit.fields["name"]), name != visit.account.name,
            let version = Int64(visit.fields["version"]), role != nil || word == "disabled"
        else { return Notices.malformed() }
        let isDone = try await parts.store.write { write throws(StoreFailure) in
            guard let actor = try write.admin(visit.account.name), actor.isEnabled, actor.role == .admin,
                var account = try write.admin(name), account.version == version
            else { return false }
            // Of two who would shut each other out only the first does: nobody who has no say any more has changed anything.
            try write.updateAdmin(actor)
            let before = Self.word(account)
            account.role = role ?? account.role
            account.isEnabled = role != nil
            try write.updateAdmin(account)
            if !account.isEnabled { _ = try write.endAdminSessions(of: name, but: nil, at: visit.now) }
            try write.noteAdminAction(visit.action("account_changed", of: name.text, "from \(before) to \(word)"))
            return true
        }
        return isDone
            ? Notices.leave(for: Address("/accounts"))
            : try await page(visit, fault: "Somebody else changed that account at the same time. Look again.")
    }

    // MARK: One's own

    func own(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse { ownPage(visit, fault: nil) }

    private func ownPage(_ visit: Visit, fault: String?) -> HTTPResponse {
        Page("Your account", visit: visit) {
            Form.fault(fault)
            element("h2") { "Change the password" }
            element("p") { "\(Self.passwordRule) All other browsers are signed out." }
            visit.form(Address("/account/password"), label: "Change the password") {
                // Password managers go by it.
                element("p", .class("field")) {
                    element("label", .word("for", "username")) { "Name" }
                    empty(
                        "input",
                        .id("username"),
                        .word("name", "username"),
                        .word("autocomplete", "username"),
                        .flag("readonly"),
                        .value(visit.account.name.text)
                    )
                }
                Form.field("old", "Old password", type: "password", autocomplete: "current-password")
                Form.field("password", "New password", type: "password", autocomplete: "new-password")
            }
        }.response(fault == nil ? .ok : .unprocessableContent)
    }

    func changePassword(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        if let fault = PasswordDesk.fault(visit.fields["password"], of: visit.account.name.text) {
            return ownPage(visit, fault: fault)
        }
        let attempt = SignInGuard.Attempt(
            name: visit.account.name,
            remote: visit.request.remote,
            device: visit.token.digest
        )
        if let wait = parts.signInGuard.begin(attempt, at: visit.now) { return Notices.wait(wait) }
        guard let fits = await parts.passwords.fits(visit.fields["old"], .init(kept: visit.account.password)) else {
            return Notices.busy()
        }
        guard fits else { return ownPage(visit, fault: "The old password is wrong.") }
        parts.signInGuard.succeeded(attempt)
        guard let hash = await parts.passwords.hash(visit.fields["password"]) else { return Notices.busy() }
        var account = visit.account
        account.password = hash.text
        let (changed, digest) = (account, visit.token.digest)
        try await parts.store.write { write throws(StoreFailure) in
            try write.updateAdmin(changed)
            _ = try write.endAdminSessions(of: changed.name, but: digest, at: visit.now)
            try write.noteAdminAction(visit.action("password_changed", of: changed.name.text))
        }
        return Notices.leave(for: Address("/account"))
    }
}
