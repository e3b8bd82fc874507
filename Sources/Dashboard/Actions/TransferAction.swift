import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Makes a purchase, with its renewals, another customer's.
struct TransferAction: OperatorAction {
    static let path: StaticString = "/transfer"
    static let word = "purchase_transferred"
    private static let listedMax = 20

    private let place: ActionPlace
    /// As it was typed; empty when it is still to be.
    private let customer: String
    /// The owner's row as it was shown.
    private let version: Int64?
    private let overruling: TokenOverruling

    init?(_ fields: FormFields) {
        guard let place = ActionPlace(fields) else { return nil }
        self.place = place
        customer = fields["to"]
        version = Int64(fields["version"])
        overruling = TokenOverruling(fields)
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let owner = try owner(write) else { return nil }
        var proposal = Proposal(
            title: "Transfer a purchase to another customer",
            subject: place.subject,
            hidden: place.hidden + [(name: "version", value: String(owner.version))],
            facts: facts(owner)
        )
        guard let to = CustomerID(given: customer) else {
            proposal.question = question()
            if !customer.isEmpty { proposal.fault = .notUnderstood("That is no customer's id.") }
            return proposal
        }
        let result = try LedgerRequests.transfer(
            owner.chain,
            to: to,
            overrulesToken: overruling.isMeant,
            isDryRun: true,
            at: now,
            in: write
        )
        switch result {
        case .failure(let fault):
            proposal.fault = .request(fault)
            proposal.question = question()
            if fault == .tokenContradicts {
                let hidden = place.hidden + [(name: "to", value: to.text)]
                proposal.question?.append(TokenOverruling.form(Self.path, hidden, Self.meaning))
            }
        case .success(let moved):
            proposal.title = "Transfer to \(to.text)"
            proposal.detail =
                "from \(owner.customer.text) to \(moved.customer.text)"
                + overruling.detail
            proposal.hidden.append((name: "to", value: to.text))
            proposal.hidden += overruling.hidden
            proposal.facts.append(try what(moves: owner, to: to, write, at: now))
        }
        return proposal
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let to = CustomerID(given: customer), let owner = try owner(write) else { return .request(.unknown) }
        guard owner.version == version else { return .changed }
        let result = try LedgerRequests.transfer(
            owner.chain,
            to: to,
            overrulesToken: overruling.isMeant,
            isDryRun: false,
            at: now,
            in: write
        )
        return ActionFault(of: result)
    }

    private static let meaning =
        "Apple signed it for another customer. If it is to be this one's all the same, the token can be overruled: it counts no more "
        + "from then on, and the audit log says so."

    private func owner(_ reader: any StoreReader) throws(StoreFailure) -> Owner? {
        guard let recorded = try reader.transactions([place.key]).first else { return nil }
        let chain = try place.fulfilment(of: recorded, reader)?.chain ?? recorded.chain
        return try reader.owners([chain]).first
    }

    private func question() -> HTML {
        Form.get(Address(Self.path), place.hidden, label: "See what would move") {
            Form.field("to", "To the customer with the id", value: customer)
        }
    }

    private func facts(_ owner: Owner) -> HTML {
        element("dl", .class("facts")) {
            element("dt") { "First transaction" }
            element("dd") {
                Links.link(Links.transaction(place.app, owner.chain.original), owner.chain.original.description)
            }
            Texts.fact("App", place.app.text)
            Texts.fact("Store", Texts.realm(place.realm))
            element("dt") { "Belongs to" }
            element("dd") { Links.link(Links.customer(place.app, owner.customer), owner.customer.text) }
            Texts.fact("Since", owner.since)
            Texts.fact("Belonged before to", owner.previous?.text)
            for sharer in owner.sharers { Texts.fact("Shared with", sharer.text) }
        }
    }

    private func what(
        moves owner: Owner,
        to customer: CustomerID,
        _ reader: any StoreReader,
        at now: Timestamp
    ) throws(StoreFailure) -> HTML {
        let given = try reader.fulfilments([owner.chain])
        let inForce = entitlements(given, try reader.subscriptions([owner.chain]), at: now)
        let stays = given.flatMap(\.goods).filter { if case .amount = $0 { true } else { false } }
        let chains = try reader.chains(app: place.app, customer: customer)
        let orders = try reader.orders(app: place.app, customer: customer, after: nil, limit: 1).orders
        let granted = try reader.grantedEntitlements(app: place.app, customer: customer)
        let isKnown = !chains.isEmpty || !orders.isEmpty || !granted.isEmpty
        return moves(owner, customer, isKnown, given.count, inForce, stays)
    }

    @HTMLBuilder private func moves(
        _ owner: Owner,
        _ customer: CustomerID,
        _ isKnown: Bool,
        _ count: Int,
        _ inForce: [Entitlement],
        _ stays: [GrantedGoods]
    ) -> HTML {
        element("h2") { "What would move" }
        element("dl", .class("facts")) {
            Texts.fact("From", owner.customer.text)
            element("dt") { "To" }
            element("dd") { Links.link(Links.customer(place.app, customer), customer.text) }
            Texts.fact("Transactions", Texts.count(count))
            for entitlement in inForce.prefix(Self.listedMax) {
                Texts.fact("Moves", Texts.goods(.entitlement(entitlement.id, until: entitlement.until)))
            }
            for goods in stays.prefix(Self.listedMax) { Texts.fact("Stays where it was credited", Texts.goods(goods)) }
        }
        if inForce.isEmpty { element("p") { "Nothing of it may be used now. What renews later is the new owner's." } }
        if !isKnown {
            element("p", .class("fault")) { "No purchase and no order of that customer is known. Is the id right?" }
        }
        element("p") {
            "Both customers' events tell of it. To undo it, transfer the purchase back to "
            element("bdi") { owner.customer.text }
            "."
        }
    }
}
