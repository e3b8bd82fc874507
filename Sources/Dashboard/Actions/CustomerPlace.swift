import PurchaseModel

/// A customer on one side of the wall, as an address names her, and how what is changed stood when it was shown.
struct CustomerPlace: Sendable {
    let app: AppID
    let customer: CustomerID
    let realm: Realm
    /// Of the row that is changed; 0 where there is none, `nil` before it was shown.
    let version: Int64?

    /// By `app`, `customer`, `side` and `version`.
    init?(_ fields: FormFields) {
        guard let app = AppID(fields["app"]), let customer = CustomerID(fields["customer"]),
            let realm = Side.realm(fields["side"])
        else { return nil }
        (self.app, self.customer, self.realm) = (app, customer, realm)
        version = Int64(fields["version"])
    }

    /// What is wrong with giving her something: no customer comes to be under a word for nothing.
    var givingFault: ActionFault? {
        CustomerID(given: customer.text) == nil ? .notUnderstood("A customer's id is \(CustomerID.rule).") : nil
    }

    var back: Address { Links.customer(app, customer) }

    /// For the audit log.
    var subject: String { "customer \(customer.text) of \(app.text), \(Texts.realm(realm))" }

    /// Without the side, which may still be chosen.
    var hidden: [(name: StaticString, value: String)] {
        [(name: "app", value: app.text), (name: "customer", value: customer.text)]
    }

    var side: (name: StaticString, value: String) { (name: "side", value: Side.name(realm)) }

    /// Has one of the sides chosen.
    var sides: HTML {
        Form.choice(
            "side",
            "Store",
            Realm.known.map { (value: Side.name($0), text: Texts.realm($0)) },
            selected: Side.name(realm)
        )
    }

    func facts(@HTMLBuilder _ more: () -> HTML) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", app.text)
            element("dt") { "Customer" }
            element("dd") { Links.link(back, customer.text) }
            more()
        }
    }
}
