import PurchaseModel

/// For which app, on which side of the wall.
struct MemoryWatchName: Hashable, Sendable {
    var app: AppID
    var realm: Realm
}

extension MemoryTransaction {
    func notification(_ key: NotificationKey) -> KeptNotification? { ledger.notifications[key] }

    func notifications(
        app: AppID,
        before cursor: NotificationCursor?,
        where filter: NotificationFilter,
        limit: Int
    ) -> NotificationPage {
        let limit = min(max(limit, 1), NotificationPage.limitMax)
        let rest = ledger.notifications.values
            .filter { kept in
                kept.key.app == app && filter.includes(kept) && cursor.map { kept.cursor < $0 } ?? true
            }
            .sorted { one, other in
                one.cursor == other.cursor
                    ? RealmCode.wanted(one.key.realm) > RealmCode.wanted(other.key.realm) : one.cursor > other.cursor
            }
        let page = Array(rest.prefix(limit))
        return NotificationPage(notifications: page, next: rest.count > limit ? page.last?.cursor : nil)
    }

    func notificationWatch(app: AppID, realm: Realm) -> NotificationWatch? {
        ledger.notificationWatches[MemoryWatchName(app: app, realm: realm)]
    }

    func keepNotification(_ notification: KeptNotification) throws(StoreFailure) -> Bool {
        guard notification.isStorable else { throw .unstorable }
        guard ledger.notifications[notification.key] == nil else { return false }
        put(notification, at: \.notifications[notification.key])
        return true
    }

    func noteWatch(_ watch: NotificationWatch) throws(StoreFailure) {
        guard RealmCode(watch.realm) != nil else { throw .unstorable }
        let name = MemoryWatchName(app: watch.app, realm: watch.realm)
        guard (ledger.notificationWatches[name]?.version ?? 0) == watch.version - 1 else { throw conflict() }
        put(watch, at: \.notificationWatches[name])
    }
}
