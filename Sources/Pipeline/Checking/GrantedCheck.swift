import Encoding
import PurchaseModel
import Storage

// What was granted by hand: nothing stands behind it but what was told of it.
extension LedgerCheck {
    /// - Returns: how often it was changed, on each side of the wall.
    mutating func checkGrantedEntitlements(_ app: AppID) throws(StoreFailure) -> [Realm: Int64] {
        let reader = reader
        var changes: [Realm: Int64] = [:]
        try walk { place throws(StoreFailure) in
            try reader.walkGrantedEntitlements(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.grantedEntitlements += page.count
            for row in page {
                changes[row.key.realm, default: 0] += row.version
                try check.check(row)
            }
        }
        return changes
    }

    private mutating func check(_ row: GrantedEntitlement) throws(StoreFailure) {
        let now = JSONWriter.object { GrantedEntitlementJSON.write(row, into: &$0) }
        guard try lastTold(of: row.key) != now else { return }
        let names: [LedgerViolation.Name] = .of(
            row.key.app,
            row.key.realm,
            ("customer_id", row.key.customer.text),
            ("entitlement", row.key.entitlement.text)
        )
        findings.add(.grantedContradicts, names, "the last event of it says something else")
    }

    /// What stands in the last event of it. A customer's events are looked at from the last one on: they are few, of those
    /// who were granted anything.
    private func lastTold(of key: GrantedEntitlementKey) throws(StoreFailure) -> [UInt8]? {
        let stream = key.stream
        var sequence = try reader.lastEventSequence(app: stream.app, realm: stream.realm, customer: stream.customer)
        while sequence > 0 {
            let event = try reader.event(app: stream.app, id: EventRows.id(stream, sequence))?.event
            if let event, Self.ofGrants.contains(event.type),
                let told = try? JSONDocument(event.data).root.object?["granted_entitlement"],
                told.object?["entitlement"]?.string == key.entitlement.text
            {
                return Array(told.raw)
            }
            sequence -= 1
        }
        return nil
    }
}
