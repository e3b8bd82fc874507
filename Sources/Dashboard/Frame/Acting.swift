import HTTP
import PurchaseModel
import Storage

/// Why something was not done, for who asked.
struct Refusal: Error, Hashable, Sendable {
    let status: HTTPStatus
    let sentence: String

    init(_ status: HTTPStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// Not any more as the page showed it.
    static let changed = Refusal(.conflict, "It is not any more as this page showed it. Look again.")
    static let incomplete = Refusal(.badRequest, "The form was not understood. Load the page anew.")
}

/// What became of a form.
enum Carried<Value: Sendable>: Sendable {
    case done(Value)
    /// The same form was sent before, and did it then.
    case again
    case refused(Refusal)
}

extension Visit {
    /// What was done, and the line of the log that says so.
    typealias Deed<Value> = Result<(value: Value, action: AdminAction), Refusal>

    /// Does what a form asks for: once, in one commit with its line in the log.
    func carryOut<Value: Sendable>(
        in store: any Store,
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Deed<Value>
    ) async throws(StoreFailure) -> Carried<Value> {
        guard let once = SentOnce(self) else { return .refused(.incomplete) }
        return try await store.write { write throws(StoreFailure) -> Carried<Value> in
            if let isSame = try once.wasSent(write) { return isSame ? .again : .refused(.changed) }
            switch try body(write) {
            case .failure(let refusal): return .refused(refusal)
            case .success(let deed):
                try write.noteAdminAction(deed.action)
                try once.keep(at: now, in: write)
                return .done(deed.value)
            }
        }
    }

    /// A form that is carried out once.
    func formOnce(_ address: Address, label: String, @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        form(address, label: label) {
            Form.hidden(SentOnce.field, Token().text)
            content()
        }
    }

    func may(_ role: AdminRole) -> Bool { role <= account.role }
}

extension Form {
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

    /// One of a few words.
    static func choice(_ name: StaticString, _ label: String, _ options: [(value: String, text: String)]) -> HTML {
        element("p", .class("field")) {
            element("label", .word("for", name)) { label }
            element("select", .id(name), .word("name", name)) {
                for option in options { element("option", .value(option.value)) { option.text } }
            }
        }
    }

    /// Whatever went wrong with a form, above it.
    @HTMLBuilder static func fault(_ refusal: Refusal?) -> HTML {
        if let refusal { element("p", .class("fault"), .word("role", "alert")) { refusal.sentence } }
    }
}
