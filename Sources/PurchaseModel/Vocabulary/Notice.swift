/// What a server notification tells, with the facts that it carries already proved one by one.
package struct Notice: Hashable, Sendable {
    /// Apple's UUID for the notification: the same for every repetition.
    package var uuid: String
    /// Apple's word, such as `DID_RENEW`; unknown ones are kept.
    package var type: String
    package var subtype: String?
    package var bundleID: BundleID?
    package var appleID: Int64?
    package var environment: StoreEnvironment?
    package var signedAt: Timestamp
    package var transaction: Transaction?
    package var renewal: Renewal?
    /// What only notifications of its type say.
    package var matter = Announcement.Matter.none

    package init(uuid: String, type: String, signedAt: Timestamp) {
        self.uuid = uuid
        self.type = type
        self.signedAt = signedAt
    }
}
