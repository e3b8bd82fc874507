import PurchaseModel

// Apple's notifications: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var notifications: NotificationQueries { NotificationQueries(connection: connection, apps: apps) }

    func notification(_ key: NotificationKey) throws(StoreFailure) -> KeptNotification? {
        try notifications.find(key)
    }

    func notifications(
        app: AppID,
        before cursor: NotificationCursor?,
        where filter: NotificationFilter,
        limit: Int
    ) throws(StoreFailure) -> NotificationPage {
        try notifications.list(app: app, before: cursor, where: filter, limit: limit)
    }

    func notificationWatch(app: AppID, realm: Realm) throws(StoreFailure) -> NotificationWatch? {
        try notifications.watch(app: app, realm: realm)
    }

    func keepNotification(_ notification: KeptNotification) throws(StoreFailure) -> Bool {
        try notifications.keep(notification)
    }

    func noteWatch(_ watch: NotificationWatch) throws(StoreFailure) {
        try notifications.note(watch)
    }
}
