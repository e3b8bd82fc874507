import Encoding
import PurchaseModel

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
            hidden(tokenField, token.formToken)
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
            for field in hidden { self.hidden(field.name, field.value) }
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

    static func hidden(_ name: StaticString, _ value: String) -> HTML {
        empty("input", .word("type", "hidden"), .word("name", name), .value(value))
    }

    /// A box to tick, with its words beside it.
    static func box(_ name: StaticString, _ label: String, isTicked: Bool = false) -> HTML {
        element("p") {
            element("label") {
                isTicked
                    ? empty("input", .word("type", "checkbox"), .word("name", name), .flag("checked"))
                    : empty("input", .word("type", "checkbox"), .word("name", name))
                " \(label)"
            }
        }
    }

    /// One of several words; the first where none is selected.
    static func choice(
        _ name: StaticString,
        _ label: String,
        _ options: [(value: String, text: String)],
        selected: String? = nil
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

    /// Whatever went wrong with a form, above it.
    @HTMLBuilder static func fault(_ sentence: String?) -> HTML {
        if let sentence { element("p", .class("fault"), .word("role", "alert")) { sentence } }
    }

    static func field(
        _ name: StaticString,
        _ label: String,
        type: StaticString = "text",
        autocomplete: StaticString = "off",
        value: String = "",
        isNeeded: Bool = true
    ) -> HTML {
        var attributes: [Attribute] = [
            .id(name), .word("name", name), .word("type", type), .word("autocomplete", autocomplete),
            .word("maxlength", "1024"), .value(value),
        ]
        if isNeeded { attributes.append(.flag("required")) }
        return element("p", .class("field")) {
            element("label", .word("for", name)) { label }
            HTML("input", attributes, content: nil)
        }
    }

    /// A moment (UTC) as browsers write it, to the minute or the second, or as our pages do.
    static func moment(_ text: String) -> Timestamp? {
        let end = [16: ":00Z", 19: "Z"][text.utf8.count] ?? ""
        return RFC3339.milliseconds(text + end).map { Timestamp(milliseconds: $0) }
    }
}
