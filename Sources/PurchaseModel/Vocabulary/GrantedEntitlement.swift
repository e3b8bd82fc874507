/// What makes an entitlement that was granted by hand the same one: a customer has each once on each side of the wall.
package struct GrantedEntitlementKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let customer: CustomerID
    package let entitlement: EntitlementID

    package init(app: AppID, realm: Realm, customer: CustomerID, entitlement: EntitlementID) {
        self.app = app
        self.realm = realm
        self.customer = customer
        self.entitlement = entitlement
    }

    package var stream: StreamKey { StreamKey(app: app, realm: realm, customer: customer) }
}

/// An entitlement that a person gave a customer without a purchase, as it was last changed. What was bought is not touched
/// by it: a customer may use what either gives.
package struct GrantedEntitlement: Hashable, Sendable {
    package let key: GrantedEntitlementKey
    /// `nil` is for ever.
    package internal(set) var until: Timestamp?
    /// Whether a person has ended it.
    package internal(set) var isRevoked: Bool
    package internal(set) var changedAt: Timestamp
    package internal(set) var motive: Motive
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package init(
        key: GrantedEntitlementKey,
        until: Timestamp?,
        isRevoked: Bool = false,
        changedAt: Timestamp,
        motive: Motive,
        version: Int64 = 1
    ) {
        self.key = key
        self.until = until
        self.isRevoked = isRevoked
        self.changedAt = changedAt
        self.motive = motive
        self.version = version
    }

    package func isInForce(at now: Timestamp) -> Bool { !isRevoked && until.map { now < $0 } ?? true }
}

/// Who changed something by hand, and why.
package struct Motive: Hashable, Sendable {
    /// In Unicode scalars.
    package static let reasonMax = 500

    /// The name of a key, or `dashboard/` and the name of an account.
    package let actor: String
    package let reason: String?

    /// Whether a text can be a reason: something, and not a page of it.
    package static func isReason(_ text: String) -> Bool {
        (1...reasonMax).contains(text.unicodeScalars.count) && !text.utf8.contains(0)
    }

    package init(actor: String, reason: String? = nil) {
        self.actor = actor
        self.reason = reason
    }
}
