import Encoding
import PurchaseModel
import Storage
import Verification

/// A notification's bytes, and how they came.
struct Arrived: Sendable {
    let bytes: [UInt8]
    let digest: ProofDigest
    let app: AppPolicy
    let arrival: KeptNotification.Arrival
    let moment: Timestamp

    init(bytes: [UInt8], digest: ProofDigest, app: AppPolicy, arrival: KeptNotification.Arrival, at moment: Timestamp) {
        self.bytes = bytes
        self.digest = digest
        self.app = app
        self.arrival = arrival
        self.moment = moment
    }

    /// `nil` when its UUID is none that can stand in a row.
    func row(of notice: Notice, realm: Realm) -> KeptNotification? {
        guard let id = NotificationID(notice.uuid.lowercasedInASCII) else { return nil }
        var row = row(id, realm, version: 2, type: notice.type, signedAt: notice.signedAt)
        row.subtype = notice.subtype
        row.transaction = notice.transaction?.id
        row.original = notice.transaction?.originalID ?? notice.renewal?.originalID ?? notice.transaction?.id
        return row
    }

    /// What it tells beside its facts, by the name that it is kept under.
    func announcement(of notice: Notice, _ row: KeptNotification) -> Announcement {
        Announcement(
            id: row.key.id,
            type: notice.type,
            subtype: notice.subtype,
            signedAt: notice.signedAt,
            transaction: row.transaction,
            original: row.original,
            matter: notice.matter
        )
    }

    /// A notification of version 1 has neither a name nor a date of its own.
    func row(of notice: UnsignedNotice, realm: Realm, signedAt: Timestamp?) -> KeptNotification? {
        guard let id = NotificationID("v1-\(Hexadecimal.encode(digest.bytes))") else { return nil }
        var row = row(id, realm, version: 1, type: notice.type, signedAt: signedAt ?? moment)
        row.original = notice.original
        return row
    }

    private func row(
        _ id: NotificationID,
        _ realm: Realm,
        version: Int,
        type: String,
        signedAt: Timestamp
    ) -> KeptNotification {
        KeptNotification(
            key: NotificationKey(app: app.id, realm: realm, id: id),
            version: version,
            type: type,
            arrival: arrival,
            signedAt: signedAt,
            receivedAt: moment,
            payload: bytes
        )
    }
}

extension AppPolicy {
    /// Whatever the app sells: Apple also tells of what is in no catalogue of ours.
    var expectationOfNotifications: Expectation {
        Expectation(bundleID: bundleID, appleID: appleID, environments: environments, refusesEarly: true)
    }

    /// Whether what was proved may be recorded at all: policy, after verification.
    func mayCount(_ proof: Verified<Proof>) -> Bool { !proof.provenance.vouchedBy.isTest || acceptsTestSigned }

    /// On which side of the wall it may be recorded; `nil` for nowhere, also where it is from a store that the app does not
    /// accept.
    func realm(of proof: Verified<Proof>) -> Realm? {
        guard mayCount(proof), let realm = proof.realm, environments.contains(realm.environment) else { return nil }
        return realm
    }
}

extension String {
    /// Letters of ASCII alone: the same for everybody.
    fileprivate var lowercasedInASCII: String {
        let letters = utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 0x20 : $0 }
        return String(decoding: letters, as: UTF8.self)
    }
}
