import HTTP
import Pipeline
import PurchaseModel
import Storage

/// One thing that an operator does: shown before it is done, and done in one commit with its row in the audit log.
protocol OperatorAction: Sendable {
    /// Its page, below the dashboard's own address.
    static var path: StaticString { get }
    /// What the audit log calls it.
    static var word: String { get }
    /// Whether the reason becomes part of the ledger, where everybody sees it whom it is told.
    static var isReasonTold: Bool { get }

    /// `nil` for an address or a form that is not one of ours.
    init?(_ fields: FormFields)

    /// The page that it was chosen on, and that it leads back to.
    var back: Address { get }

    /// What would be done as things stand. Writes nothing.
    ///
    /// - Parameters:
    ///   - parts: what the dashboard is made of.
    ///   - write: what is known; also where a dry run is made.
    ///   - now: the moment.
    /// - Returns: `nil` when there is nothing that it could be done to.
    /// - Throws: `StoreFailure`.
    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal?

    /// Does it, if all is still as it was shown.
    ///
    /// - Parameters:
    ///   - parts: what the dashboard is made of.
    ///   - write: where it is done.
    ///   - motive: who does it, and why.
    ///   - now: the moment.
    /// - Returns: why it was not done; then nothing was written.
    /// - Throws: `StoreFailure`.
    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault?

    /// What follows in this process once it is written.
    func follow(_ parts: DashboardParts)
}

extension OperatorAction {
    func follow(_ parts: DashboardParts) {}

    static var isReasonTold: Bool { false }
}

/// What an operator is about to do.
struct Proposal: Sendable {
    var title: String
    /// What it is done to, for the audit log.
    var subject: String
    /// What exactly is done, for the audit log.
    var detail = ""
    /// What the form carries unseen: what it is about, and how that stood when it was shown.
    var hidden: [(name: StaticString, value: String)]
    /// What it is about, what follows, and how it is undone.
    var facts: HTML
    /// What the operator has to say or choose first; then there is no form yet that does anything.
    var question: HTML?
    /// Why it cannot be done as things stand.
    var fault: ActionFault?
}

/// Why something was not done. None of it mends itself.
enum ActionFault: Hashable, Sendable {
    case request(RequestFault)
    /// It is not any more as it was shown.
    case changed
    /// It is done already.
    case done
    case noReason
    /// The form was sent before, saying something else.
    case otherForm
    /// What was typed is no id, or no number that counts.
    case notUnderstood(String)
    /// The proof was decided, or given up.
    case settled
    /// Apple cannot be asked about it.
    case outOfReach
    case replay(EventReplay.Fault)

    /// `nil` when the request was carried out.
    init?<Value>(of result: Result<Value, RequestFault>) {
        guard case .failure(let fault) = result else { return nil }
        self = .request(fault)
    }

    var status: HTTPStatus {
        switch self {
        case .request(.unknown), .replay(.unknown): .notFound
        case .noReason, .notUnderstood, .request(.outOfRange): .unprocessableContent
        default: .conflict
        }
    }

    var sentence: String {
        switch self {
        case .request(let fault): Self.sentence(fault)
        case .changed: "It has changed since this page was loaded. Nothing was done: look again."
        case .done: "That is done already."
        case .noReason: "Say why, in 1 to \(Motive.reasonMax) characters."
        case .otherForm: "This form was sent before and said something else then. Nothing more was done: load it anew."
        case .notUnderstood(let what): what
        case .settled: "The proof is not waiting any more."
        case .outOfReach: "This server has nothing by which Apple would answer it: see docs/appstore.md."
        case .replay(.unknown): "There is no such event."
        case .replay(.underWay): "It is on its way already."
        case .replay(.unwanted): "That webhook is not for such events: it was never sent this one."
        }
    }

    private static func sentence(_ fault: RequestFault) -> String {
        switch fault {
        case .unknown: "There is no such thing any more."
        case .otherOrder: "The id is that of another order."
        case .orderIs(let state): "The order is \(state.rawValue): this cannot be done any more."
        case .fulfilmentIs(let state): "The purchase is \(state.rawValue): this cannot be done any more."
        case .doesNotFit: "What was bought is not what the order asks for, or not by this customer."
        case .tokenContradicts:
            "Apple signed it with an account token that is another order's, or another customer's."
        case .staleFence: "What is to be delivered has changed since this page was loaded. Look again."
        case .sameOwner: "It is this customer's already."
        case .insufficient(let balance): "The balance is smaller than that: \(balance)."
        case .unknownCurrency(let known):
            "No product gives such a currency, and the customer has none of it. There are: "
                + known.map(\.text).joined(separator: ", ") + "."
        case .outOfRange: "The amount is zero, or beyond all numbers."
        case .isOver: "That moment has passed."
        }
    }
}
