import PurchaseModel
import Storage

/// What a customer may use now, and what of it a person gave her.
struct CustomerEntitlements: Sendable {
    private let app: AppID
    private let now: Timestamp
    private let inForce: [Entitlement]
    private let byHand: [GrantedEntitlement]

    init(app: AppID, _ holdings: Holdings, _ byHand: [GrantedEntitlement], at now: Timestamp) {
        (self.app, self.now, self.byHand) = (app, now, byHand)
        inForce = holdings.entitlements(and: byHand, at: now)
    }

    @HTMLBuilder func html(_ visit: Visit) -> HTML {
        if !inForce.isEmpty {
            Table("May be used now", ["Entitlement", "Store", "Until", "By"]) {
                for entitlement in inForce {
                    element("tr") {
                        element("th", .word("scope", "row")) { element("bdi") { entitlement.id.text } }
                        element("td") { Texts.realm(entitlement.realm) }
                        element("td") { entitlement.until.map(Texts.moment) ?? HTML(text: "for ever") }
                        element("td") {
                            if let bought = entitlement.purchase {
                                Links.link(Links.transaction(app, bought.transaction), bought.product.text)
                            } else {
                                "granted by hand"
                            }
                        }
                    }
                }
            }.html
        }
        if !byHand.isEmpty {
            let columns = ["Entitlement", "Store", "Until", "Changed", "By", "Because"]
            Table("Granted by hand", columns + (visit.may(.operator) ? ["Revoke"] : [])) {
                for row in byHand { element("tr") { cells(of: row, visit) } }
            }.html
        }
    }

    @HTMLBuilder private func cells(of row: GrantedEntitlement, _ visit: Visit) -> HTML {
        let id = row.key.entitlement.text
        element("th", .word("scope", "row")) { element("bdi") { id } }
        element("td") { Texts.realm(row.key.realm) }
        element("td") { Texts.term(row) }
        element("td") { Texts.moment(row.changedAt) }
        element("td") { element("bdi") { row.motive.actor } }
        element("td") { element("bdi") { row.motive.reason ?? "–" } }
        if visit.may(.operator) {
            element("td") {
                if row.isInForce(at: now) {
                    element("a", .href(OperatorLinks.revoke(row.key))) { "Revoke \(id)" }
                } else {
                    "–"
                }
            }
        }
    }
}
