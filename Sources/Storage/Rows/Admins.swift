package import PurchaseModel

/// Who may use the dashboard, as they sign in.
package struct AdminName: ASCIIIdentifier {
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// What somebody may do. Each may do what those before it may.
package enum AdminRole: String, CaseIterable, Comparable, Sendable {
    /// Sees everything, changes nothing.
    case viewer
    /// Changes what belongs to customers: orders, purchases, deliveries.
    case `operator`
    /// Also changes who may do what.
    case admin

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .operator: 1
        case .admin: 2
        }
    }

    package static func < (left: AdminRole, right: AdminRole) -> Bool { left.rank < right.rank }
}

/// An account of the dashboard.
package struct AdminAccount: Hashable, Sendable {
    /// More people than that do not look after one server.
    package static let listedMax = 500

    package let name: AdminName
    package var role: AdminRole
    /// The password's hash, in its text form.
    package var password: String
    package var isEnabled: Bool
    /// Grows by one with each change; 1 at first.
    package var version: Int64
    package let createdAt: Timestamp

    package init(
        name: AdminName,
        role: AdminRole,
        password: String,
        isEnabled: Bool = true,
        version: Int64 = 1,
        createdAt: Timestamp
    ) {
        self.name = name
        self.role = role
        self.password = password
        self.isEnabled = isEnabled
        self.version = version
        self.createdAt = createdAt
    }

    var isStorable: Bool { StorableText.isWord(password) }
}

/// A browser that is signed in, or was.
package struct AdminSession: Hashable, Sendable {
    static let digestLength = 32

    /// SHA-256 of the token that the browser holds; 32 bytes.
    package let digest: [UInt8]
    package let admin: AdminName
    package let startedAt: Timestamp
    /// When it was last noted to be used; it may lag.
    package var seenAt: Timestamp
    package var endedAt: Timestamp?

    package init(
        digest: [UInt8],
        admin: AdminName,
        startedAt: Timestamp,
        seenAt: Timestamp,
        endedAt: Timestamp? = nil
    ) {
        self.digest = digest
        self.admin = admin
        self.startedAt = startedAt
        self.seenAt = seenAt
        self.endedAt = endedAt
    }

    var isStorable: Bool { digest.count == Self.digestLength }
}

/// What somebody did on the dashboard, or tried, and what a key did that changes who may do what.
package struct AdminAction: Hashable, Sendable {
    /// What anybody can have written, as often as a password is guessed: the only one that is forgotten.
    package static let signInRefused = "sign_in_refused"

    package let at: Timestamp
    /// `nil` when nobody was signed in.
    package let admin: AdminName?
    /// The API key that did it: its app, a slash, and its id, or its name where the configuration gives it.
    package let key: String?
    /// The address it came from: the proxy's, when there is one.
    package let remote: String
    /// A word of ours, such as `signed_in`.
    package let action: String
    /// What it was done to.
    package let subject: String?
    package let detail: String?

    package init(
        at: Timestamp,
        admin: AdminName?,
        key: String? = nil,
        remote: String,
        action: String,
        subject: String? = nil,
        detail: String? = nil
    ) {
        self.at = at
        self.admin = admin
        self.key = key
        self.remote = remote
        self.action = action
        self.subject = subject
        self.detail = detail
    }

    var isStorable: Bool {
        StorableText.isWord(remote) && StorableText.isWord(action) && key.map(StorableText.isWord) ?? true
            && StorableText.isStorable(subject)
            && StorableText.isStorable(detail)
    }
}

/// Some of what was done, the newest first.
package struct AdminActionPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 500

    package var rows: [AuditRow]
    /// Where the next page begins; `nil` when there are no more.
    package var next: Int64?

    package init(rows: [AuditRow] = [], next: Int64? = nil) {
        self.rows = rows
        self.next = next
    }

    package var actions: [AdminAction] { rows.map(\.action) }
}
