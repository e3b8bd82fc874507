package import PurchaseModel
package import Storage

// Apple's notifications.
extension PassingTransaction {
    package func notification(_ key: NotificationKey) throws(StoreFailure) -> KeptNotification? {
        try base.notification(key)
    }

    package func notifications(
        app: AppID,
        before cursor: NotificationCursor?,
        where filter: NotificationFilter,
        limit: Int
    ) throws(StoreFailure) -> NotificationPage {
        try base.notifications(app: app, before: cursor, where: filter, limit: limit)
    }

    package func notificationWatch(app: AppID, realm: Realm) throws(StoreFailure) -> NotificationWatch? {
        try base.notificationWatch(app: app, realm: realm)
    }

    package func keepNotification(_ notification: KeptNotification) throws(StoreFailure) -> Bool {
        try base.keepNotification(notification)
    }

    package func noteWatch(_ watch: NotificationWatch) throws(StoreFailure) { try base.noteWatch(watch) }
}
