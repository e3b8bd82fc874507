package import PurchaseModel

/// The questions about Apple's notifications.
package protocol NotificationReader {
    func notification(_ key: NotificationKey) throws(StoreFailure) -> KeptNotification?

    /// An app's notifications, the newest first, from a place in the listing on; the limit is brought between 1 and
    /// ``NotificationPage/limitMax``.
    func notifications(
        app: AppID,
        before cursor: NotificationCursor?,
        where filter: NotificationFilter,
        limit: Int
    ) throws(StoreFailure) -> NotificationPage

    /// `nil` when nothing was compared yet.
    func notificationWatch(app: AppID, realm: Realm) throws(StoreFailure) -> NotificationWatch?
}

extension NotificationReader {
    /// Those of an app, of each side that was compared.
    package func notificationWatches(app: AppID) throws(StoreFailure) -> [NotificationWatch] {
        var watches: [NotificationWatch] = []
        for realm in Realm.known {
            if let watch = try notificationWatch(app: app, realm: realm) { watches.append(watch) }
        }
        return watches
    }
}

/// What is kept of Apple's notifications.
package protocol NotificationVerbs: NotificationReader {
    /// Keeps a notification, in the write of what follows from it.
    ///
    /// - Returns: false when it is known; then nothing is written.
    /// - Throws: ``StoreFailure/unstorable`` before anything is written.
    func keepNotification(_ notification: KeptNotification) throws(StoreFailure) -> Bool

    /// Writes how far was compared: the first version is new, any other takes the place of the one before.
    ///
    /// - Throws: ``StoreFailure/conflict`` when somebody else was faster.
    func noteWatch(_ watch: NotificationWatch) throws(StoreFailure)
}
