package import PurchaseModel

/// One notification: for which app, from which side of the wall.
package struct NotificationKey: Hashable, Sendable {
    package var app: AppID
    package var realm: Realm
    package var id: NotificationID

    package init(app: AppID, realm: Realm, id: NotificationID) {
        self.app = app
        self.realm = realm
        self.id = id
    }
}

/// A notification of Apple's as it came, kept whether or not we know its type.
package struct KeptNotification: Hashable, Sendable {
    /// How it came to us. The numbers are in files that exist.
    package enum Arrival: Int64, Hashable, Sendable {
        /// Apple sent it.
        case pushed = 0
        /// Apple had sent it in vain; we asked for what we had missed.
        case fetched = 1
    }

    package var key: NotificationKey
    /// Of its format: 1 or 2.
    package var version: Int
    /// Apple's word.
    package var type: String
    package var subtype: String?
    /// The first transaction of the chain that it is about.
    package var original: TransactionID?
    package var transaction: TransactionID?
    package var arrival: Arrival
    package var signedAt: Timestamp
    package var receivedAt: Timestamp
    /// The body as it came. In one of version 1 stands the app's shared secret, which is shown to nobody.
    package var payload: [UInt8]

    package init(
        key: NotificationKey,
        version: Int,
        type: String,
        subtype: String? = nil,
        original: TransactionID? = nil,
        transaction: TransactionID? = nil,
        arrival: Arrival,
        signedAt: Timestamp,
        receivedAt: Timestamp,
        payload: [UInt8]
    ) {
        self.key = key
        self.version = version
        self.type = type
        self.subtype = subtype
        self.original = original
        self.transaction = transaction
        self.arrival = arrival
        self.signedAt = signedAt
        self.receivedAt = receivedAt
        self.payload = payload
    }

    package var cursor: NotificationCursor { NotificationCursor(receivedAt, key.id) }

    var isStorable: Bool {
        RealmCode(key.realm) != nil && StorableText.isWord(type) && subtype.map(StorableText.isWord) ?? true
    }
}

/// A place in the listing of an app's notifications.
package typealias NotificationCursor = TimeCursor<NotificationID>

/// Which notifications to list.
package struct NotificationFilter: Hashable, Sendable {
    /// `nil` for all.
    package var type: String?
    /// The first transaction of a chain; `nil` for all.
    package var original: TransactionID?
    package var realms: Set<Realm>

    package init(type: String? = nil, original: TransactionID? = nil, realms: Set<Realm>) {
        self.type = type
        self.original = original
        self.realms = realms
    }

    func includes(_ notification: KeptNotification) -> Bool {
        realms.contains(notification.key.realm) && (type == nil || type == notification.type)
            && (original == nil || original == notification.original)
    }
}

/// Some of an app's notifications, the newest first.
package struct NotificationPage: Hashable, Sendable {
    /// Each carries what came, which is some kilobytes.
    package static let limitMax = 100

    package var notifications: [KeptNotification]
    /// `nil` when there are no more.
    package var next: NotificationCursor?

    package init(notifications: [KeptNotification] = [], next: NotificationCursor? = nil) {
        self.notifications = notifications
        self.next = next
    }
}
