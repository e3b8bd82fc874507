import HTTP
import Pipeline
import PurchaseModel
import Storage

extension CustomerPlace {
    fileprivate func key(_ entitlement: EntitlementID) -> GrantedEntitlementKey {
        GrantedEntitlementKey(app: app, realm: realm, customer: customer, entitlement: entitlement)
    }

    fileprivate func row(
        _ entitlement: EntitlementID,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> GrantedEntitlement? {
        try reader.grantedEntitlements([key(entitlement)]).first
    }

    fileprivate func facts(_ entitlement: EntitlementID?, _ row: GrantedEntitlement?) -> HTML {
        facts {
            if let entitlement {
                Texts.fact("Store", Texts.realm(realm))
                Texts.fact("Entitlement", entitlement.text)
            }
            if let row {
                Texts.fact("By hand so far", Texts.term(row))
                Texts.fact("By", row.motive.actor)
                Texts.fact("Because", row.motive.reason)
            }
        }
    }
}

/// Gives a customer an entitlement without a purchase, or changes until when she has it.
struct GrantAction: OperatorAction {
    static let path: StaticString = "/grant"
    static let word = "entitlement_granted"
    static let isReasonTold = true

    private let place: CustomerPlace
    /// As they were typed; empty when they are still to be.
    private let entitlement: String
    private let until: String

    init?(_ fields: FormFields) {
        guard let place = CustomerPlace(fields) else { return nil }
        self.place = place
        entitlement = fields["entitlement"]
        until = fields["until"]
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let policy = parts.policy(place.app) else { return nil }
        var proposal = Proposal(
            title: "Grant an entitlement",
            subject: place.subject,
            hidden: place.hidden + [place.side],
            facts: place.facts(nil, nil)
        )
        if let fault = place.givingFault {
            proposal.fault = fault
            return proposal
        }
        let known = policy.terms.entitlements
        guard !known.isEmpty else {
            proposal.fault = .notUnderstood("No product in this app's catalogue gives an entitlement.")
            return proposal
        }
        guard let id = EntitlementID(entitlement), known.contains(id), let term else {
            proposal.question = question(known)
            if !entitlement.isEmpty, EntitlementID(entitlement).map({ !known.contains($0) }) ?? true {
                proposal.fault = .notUnderstood("No product of this app gives that.")
            } else if term == nil {
                proposal.fault = .notUnderstood("A moment is written as 2026-02-28T12:00.")
            }
            return proposal
        }
        let row = try place.row(id, write)
        proposal.facts = place.facts(id, row)
        let wish = Texts.goods(.entitlement(id, until: term.end))
        proposal.detail = "\(wish); before: \(row.map(Texts.term) ?? "none")"
        proposal.title = "Grant \(wish)"
        proposal.hidden += [
            (name: "entitlement", value: id.text), (name: "until", value: until),
            (name: "version", value: String(row?.version ?? 0)),
        ]
        if let end = term.end, end <= now {
            proposal.fault = .request(.isOver)
            proposal.question = question(known)
        } else if let row, row.isInForce(at: now), row.until == term.end {
            proposal.fault = .done
        }
        proposal.facts.append(
            element("p") {
                "What the customer bought stays as it is: she may use what either gives. Revoking undoes it."
            }
        )
        return proposal
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let id = EntitlementID(entitlement), let term, let policy = parts.policy(place.app),
            try place.row(id, write)?.version ?? 0 == place.version
        else { return .changed }
        let key = place.key(id)
        return ActionFault(
            of: try LedgerRequests.grant(key, until: term.end, because: motive, for: policy, at: now, in: write)
        )
    }

    private struct Term {
        /// `nil` for ever.
        let end: Timestamp?
    }

    /// `nil` for what is no moment.
    private var term: Term? {
        until.isEmpty ? Term(end: nil) : Form.moment(until).map { Term(end: $0) }
    }

    private func question(_ known: Set<EntitlementID>) -> HTML {
        Form.get(Address(Self.path), place.hidden, label: "See what it would be") {
            place.sides
            Form.choice(
                "entitlement",
                "Entitlement",
                known.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { (value: $0, text: $0) },
                selected: entitlement
            )
            Form.field(
                "until",
                "Until (UTC); nothing is for ever",
                type: "datetime-local",
                value: until,
                isNeeded: false
            )
        }
    }
}

/// Ends what was granted by hand.
struct RevokeAction: OperatorAction {
    static let path: StaticString = "/revoke"
    static let word = "entitlement_revoked"
    static let isReasonTold = true

    private let place: CustomerPlace
    private let entitlement: EntitlementID

    init?(_ fields: FormFields) {
        guard let place = CustomerPlace(fields), let entitlement = EntitlementID(fields["entitlement"]) else {
            return nil
        }
        (self.place, self.entitlement) = (place, entitlement)
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard parts.policy(place.app) != nil, let row = try place.row(entitlement, write) else { return nil }
        var facts = place.facts(entitlement, row)
        facts.append(
            element("p") { "It ends at once. What the customer bought stays; granting it anew undoes it." }
        )
        return Proposal(
            title: "Revoke \(entitlement.text)",
            subject: place.subject,
            detail: "\(entitlement.text); before: \(Texts.term(row))",
            hidden: place.hidden + [
                place.side, (name: "entitlement", value: entitlement.text),
                (name: "version", value: String(row.version)),
            ],
            facts: facts,
            fault: row.isInForce(at: now) ? nil : .done
        )
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard try place.row(entitlement, write)?.version == place.version else { return .changed }
        let key = place.key(entitlement)
        return ActionFault(of: try LedgerRequests.revoke(key, because: motive, at: now, in: write))
    }
}
