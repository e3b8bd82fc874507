import PurchaseModel

/// How an operator says that an account token that contradicts does not count: the action is refused first, and offers it.
struct TokenOverruling {
    private static let field: (name: StaticString, value: String) = (name: "overrule", value: "token")

    /// The operator has seen that the account token contradicts.
    let isMeant: Bool

    init(_ fields: FormFields) { isMeant = fields["overrule"] == Self.field.value }

    /// What the action is asked with from now on.
    var hidden: [(name: StaticString, value: String)] { isMeant ? [Self.field] : [] }

    /// For the audit log, behind what is done.
    var detail: String { isMeant ? ", whatever its account token says" : "" }

    /// Offers it.
    ///
    /// - Parameters:
    ///   - path: of the action.
    ///   - hidden: what the action was asked with.
    ///   - meaning: what comes of it.
    /// - Returns: a button, with its words.
    @HTMLBuilder static func form(
        _ path: StaticString,
        _ hidden: [(name: StaticString, value: String)],
        _ meaning: String
    ) -> HTML {
        element("p") { meaning }
        Form.get(Address(path), hidden + [field], label: "Overrule the account token") {}
    }
}
