package import Encoding
package import PurchaseModel

/// What was granted by hand, as our JSON shows it.
package enum GrantedEntitlementJSON {
    package static func write(_ row: GrantedEntitlement, into json: inout JSONObjectWriter) {
        json.member("customer_id", row.key.customer.text)
        json.member("entitlement", row.key.entitlement.text)
        json.member("until", row.until)
        json.member("is_revoked", row.isRevoked)
        json.member("environment", row.key.realm.environment.rawValue)
        if row.key.realm.isTestSigned { json.member("test_signed", true) }
        json.member("changed_at", row.changedAt)
        json.member("changed_by", row.motive.actor)
        json.member("reason", row.motive.reason)
        json.member("version", row.version)
    }
}
