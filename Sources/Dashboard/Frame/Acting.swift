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
        switch try await once.carryOut(in: store, at: now, body) {
        case .done(let value): return .done(value)
        case .again: return .again
        case .otherForm: return .refused(.changed)
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// A form that is carried out once.
    func formOnce(_ address: Address, label: String, @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        form(address, label: label) {
            Form.hidden(SentOnce.field, Token().text)
            content()
        }
    }
}
