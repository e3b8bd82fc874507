import HTTP
import PurchaseModel
import Storage

/// A request of somebody who is signed in and may make it.
struct Visit: Sendable {
    let account: AdminAccount
    let token: Token
    let request: HTTPRequest
    let fields: FormFields
    let now: Timestamp
    /// Whether there is a page of the simulator.
    let isDemo: Bool

    /// A form that changes something: with what shows that it came from a page of ours.
    func form(_ address: Address, label: String, @HTMLBuilder content: () -> HTML) -> HTML {
        Form.post(address, token, label: label, content: content)
    }

    /// Whether it is somebody who may act on purchases.
    var mayAct: Bool { account.role >= .operator }

    func action(_ word: String, of subject: String? = nil, _ detail: String? = nil) -> AdminAction {
        AdminAction(
            at: now,
            admin: account.name,
            remote: request.remote.description,
            action: word,
            subject: subject,
            detail: detail
        )
    }
}

/// Parts of forms.
enum Form {
    /// The name of the field that carries a browser's form token.
    static let tokenField: StaticString = "form_token"

    static func post(
        _ address: Address,
        _ token: Token,
        label: String,
        @HTMLBuilder content: () -> HTML
    ) -> HTML {
        element("form", .word("method", "post"), .action(address)) {
            empty("input", .word("type", "hidden"), .word("name", tokenField), .value(token.formToken))
            content()
            element("button") { label }
        }
    }

    /// A form that only asks for another page: its fields stand in the address.
    static func get(
        _ address: Address,
        _ hidden: [(name: StaticString, value: String)],
        label: String,
        @HTMLBuilder content: () -> HTML
    ) -> HTML {
        element("form", .word("method", "get"), .action(address)) {
            self.hidden(hidden)
            content()
            element("button") { label }
        }
    }

    /// The same in an address.
    static func parameters(
        _ fields: [(name: StaticString, value: String)]
    ) -> [(name: String, value: String?)] {
        fields.map { (name: $0.name.description, value: $0.value) }
    }

    @HTMLBuilder static func hidden(_ fields: [(name: StaticString, value: String)]) -> HTML {
        for field in fields {
            empty("input", .word("type", "hidden"), .word("name", field.name), .value(field.value))
        }
    }

    /// One of several words.
    static func choice(
        _ name: StaticString,
        _ label: String,
        _ options: [(value: String, text: String)],
        selected: String
    ) -> HTML {
        element("p", .class("field")) {
            element("label", .word("for", name)) { label }
            element("select", .id(name), .word("name", name)) {
                for option in options {
                    option.value == selected
                        ? element("option", .value(option.value), .flag("selected")) { option.text }
                        : element("option", .value(option.value)) { option.text }
                }
            }
        }
    }

    static func field(
        _ name: StaticString,
        _ label: String,
        type: StaticString = "text",
        autocomplete: StaticString = "off",
        value: String = ""
    ) -> HTML {
        element("p", .class("field")) {
            element("label", .word("for", name)) { label }
            empty(
                "input",
                .id(name),
                .word("name", name),
                .word("type", type),
                .word("autocomplete", autocomplete),
                .word("maxlength", "1024"),
                .flag("required"),
                .value(value)
            )
        }
    }
}
