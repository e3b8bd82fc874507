import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Gives a customer something of a currency, or takes it.
struct AdjustAction: OperatorAction {
    static let path: StaticString = "/adjust"
    static let word = "balance_adjusted"

    private let place: CustomerPlace
    /// As they were typed; empty when they are still to be.
    private let currency: String
    private let amount: String

    init?(_ fields: FormFields) {
        guard let place = CustomerPlace(fields) else { return nil }
        self.place = place
        currency = fields["currency"]
        amount = fields["amount"]
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let policy = parts.policy(place.app) else { return nil }
        var proposal = Proposal(
            title: "Change a balance",
            subject: place.subject,
            hidden: place.hidden + [place.side],
            facts: facts(nil)
        )
        guard let wallet = wallet(), let delta = delta() else {
            proposal.question = question(try names(parts, write))
            if !currency.isEmpty, wallet() == nil {
                proposal.fault = .notUnderstood("That is no currency's name.")
            } else if !amount.isEmpty, delta() == nil {
                proposal.fault = .notUnderstood("An amount is a whole number other than zero, such as 100 or -100.")
            }
            return proposal
        }
        let known = try write.wallets([wallet]).first ?? Wallet(wallet)
        let (after, overflows) = known.balance.addingReportingOverflow(delta)
        proposal.facts = facts(known)
        let refused = overflows ? .outOfRange : policy.terms.fault(of: known)
        if let fault = (delta > 0 ? place.givingFault : nil) ?? refused.map(ActionFault.request) {
            proposal.fault = fault
            proposal.question = question(try names(parts, write))
            return proposal
        }
        proposal.title = delta > 0 ? "Give \(delta) \(currency)" : "Take \(delta.magnitude) \(currency)"
        proposal.detail = "\(delta > 0 ? "+" : "")\(delta) \(currency), from \(known.balance) to \(after)"
        proposal.hidden += [
            (name: "currency", value: currency), (name: "amount", value: String(delta)),
            (name: "version", value: String(known.version)),
        ]
        proposal.facts.append(
            element("p") {
                "The balance goes from \(Texts.count(Int(known.balance))) to \(Texts.count(Int(after))), and the customer's "
                "events tell of it. To undo it, change it by as much the other way: both stay in the ledger."
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
        guard let policy = parts.policy(place.app), let wallet = wallet(), let delta = delta() else { return .changed }
        guard try write.wallets([wallet]).first?.version ?? 0 == place.version else { return .changed }
        let result = try LedgerRequests.adjust(
            wallet,
            by: delta,
            cause: .adjustment,
            for: policy,
            at: now,
            in: write
        )
        return ActionFault(of: result)
    }

    private func wallet() -> WalletKey? {
        CurrencyID(currency).map { currency in
            WalletKey(app: place.app, realm: place.realm, customer: place.customer, currency: currency)
        }
    }

    private func delta() -> Int64? {
        guard let number = Int64(amount), number != 0, number.magnitude <= LedgerRequests.amountMax.magnitude else {
            return nil
        }
        return number
    }

    /// The currencies that products give and that the customer has.
    private func names(_ parts: DashboardParts, _ reader: any StoreReader) throws(StoreFailure) -> [String] {
        var names = Set(try reader.wallets(app: place.app, customer: place.customer).map(\.key.currency.text))
        for currency in parts.policy(place.app)?.terms.currencies ?? [] { names.insert(currency.text) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    @HTMLBuilder private func question(_ names: [String]) -> HTML {
        if !names.isEmpty {
            element("p") {
                "Currencies of this app: "
                for name in names.prefix(50) {
                    element("bdi") { name }
                    " "
                }
            }
        }
        Form.get(Address(Self.path), place.hidden, label: "See what it would be") {
            place.sides
            Form.field("currency", "Currency", value: currency)
            Form.field("amount", "By how much: 100 gives, -100 takes", value: amount)
        }
    }

    private func facts(_ wallet: Wallet?) -> HTML {
        place.facts {
            if let wallet {
                Texts.fact("Store", Texts.realm(place.realm))
                Texts.fact("Currency", wallet.key.currency.text)
                Texts.fact("Balance", Texts.count(Int(wallet.balance)))
            }
        }
    }
}
