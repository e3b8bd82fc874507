import Crypto
import Encoding
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

/// A form that is carried out once, however often it is sent: it has a name, which is kept in the commit of what it did.
struct Once: Sendable {
    static let field: StaticString = "once"
    /// Beside the holders of keys, whose names have the app in front.
    private static let holder = "dashboard"

    private let name: IdempotencyName
    private let visit: Visit

    /// `nil` for a form without a name.
    init?(_ visit: Visit) {
        let given = visit.fields[Self.field.description]
        guard !given.isEmpty else { return nil }
        // Another session's form of that name is another one.
        let whole = "\(visit.token.text) \(visit.request.path) \(given)"
        let key = Hexadecimal.encode(Digest.sha256(Array(whole.utf8)))
        name = IdempotencyName(holder: Self.holder, key: key)
        self.visit = visit
    }

    func wasDone(_ reader: any StoreReader) throws(StoreFailure) -> Bool { try reader.keptAnswer(name) != nil }

    /// Notes what was done, in the log and for the same form again.
    func note(_ action: AdminAction, in write: any StoreTransaction) throws(StoreFailure) {
        try write.noteAdminAction(action)
        try write.keepAnswer(
            KeptAnswer(
                name: name,
                fingerprint: Digest.sha256(visit.request.body),
                status: HTTPStatus.seeOther.rawValue,
                contentType: "text/html",
                body: [],
                keptAt: visit.now
            )
        )
    }
}

extension Visit {
    /// What was done, and the line of the log that says so.
    typealias Deed<Value> = Result<(value: Value, action: AdminAction), Refusal>

    /// Does what a form asks for: once, in one commit with its line in the log.
    func carryOut<Value: Sendable>(
        in store: any Store,
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Deed<Value>
    ) async throws(StoreFailure) -> Carried<Value> {
        guard let once = Once(self) else { return .refused(.incomplete) }
        return try await store.write { write throws(StoreFailure) -> Carried<Value> in
            if try once.wasDone(write) { return .again }
            switch try body(write) {
            case .failure(let refusal): return .refused(refusal)
            case .success(let deed):
                try once.note(deed.action, in: write)
                return .done(deed.value)
            }
        }
    }

    /// A form that is carried out once.
    func formOnce(_ address: Address, label: String, @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        form(address, label: label) {
            Form.hidden(Once.field, Token().text)
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
