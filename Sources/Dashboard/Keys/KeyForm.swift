import Pipeline
import PurchaseModel

/// What a new key is to be.
struct KeyForm {
    let visit: Visit
    let app: AppID

    var html: HTML {
        element("section") {
            element("h2") { "New key" }
            visit.formOnce(Address("/keys/make"), label: "Make the key") {
                Form.hidden("app", app.text)
                Form.field("name", "Name")
                Form.choice(
                    "kind",
                    "Kind",
                    [("secret", "secret, for the shop's servers"), ("publishable", "publishable, for the app")]
                )
                element("fieldset") {
                    element("legend") { "May; none ticked is what is usual for its kind" }
                    for (name, scope) in Self.scopes { Form.box(name, scope.rawValue) }
                }
                element("fieldset") {
                    element("legend") { "Only of these stores; none ticked is all" }
                    for (name, store) in Self.stores { Form.box(name, store.rawValue) }
                }
                Form.choice(
                    "days",
                    "Ends",
                    [("", "never"), ("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year")]
                )
            }
        }
    }

    /// Names of fields stand in the source.
    private static let scopes: [(StaticString, Scope)] = [
        ("may_submit", .submit), ("may_customer", .customer), ("may_read", .read), ("may_write", .write),
        ("may_webhooks", .webhooks), ("may_sign", .sign), ("may_keys", .keys),
        ("may_verify_receipt", .verifyReceipt), ("may_validator", .validator),
    ]
    private static let stores: [(StaticString, StoreEnvironment)] = [
        ("of_production", .production), ("of_sandbox", .sandbox), ("of_xcode", .xcode),
        ("of_local_testing", .localTesting),
    ]

    /// What the form says, checked.
    static func wish(_ fields: FormFields) throws(KeyWish.Fault) -> KeyWish {
        let scopes = scopes.filter { !fields[$0.0.description].isEmpty }.map(\.1.rawValue)
        let stores = stores.filter { !fields[$0.0.description].isEmpty }.map(\.1.rawValue)
        let days = fields["days"]
        guard days.isEmpty || Int64(days) != nil else { throw KeyWish.Fault("expires_in_days", "A number is needed.") }
        return try KeyWish(
            name: fields["name"],
            kind: fields["kind"],
            scopes: scopes.isEmpty ? nil : scopes,
            environments: stores.isEmpty ? nil : stores,
            days: Int64(days),
            by: nil
        )
    }
}
