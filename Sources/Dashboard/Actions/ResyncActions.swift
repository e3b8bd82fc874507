import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Has Apple asked now about a purchase.
struct ResyncAction: OperatorAction {
    static let path: StaticString = "/resync"
    static let word = "apple_asked"

    private let place: ActionPlace

    init?(_ fields: FormFields) {
        guard let place = ActionPlace(fields) else { return nil }
        self.place = place
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        let answer = try parts.resync.question(about: place.key, write)
        return Asking(answer).proposal("Ask Apple about \(place.id) now", place.subject, hidden: place.hidden)
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        try Asking(try parts.resync.question(about: place.key, write)).carryOut(parts, write)
    }
}

/// Has Apple asked now about a proof that waits.
struct ResyncProofAction: OperatorAction {
    static let path: StaticString = "/submission/resync"
    static let word = "apple_asked"

    private let id: SubmissionID

    init?(_ fields: FormFields) {
        guard let bytes = Hexadecimal.decode(fields["id"]), let id = SubmissionID(bytes) else { return nil }
        self.id = id
    }

    private var name: String { Hexadecimal.encode(id.bytes) }

    var back: Address { Links.submission(name) }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        let answer = try parts.resync.question(about: id, write)
        return Asking(answer).proposal(
            "Ask Apple about this proof now",
            "submission \(name)",
            hidden: [(name: "id", value: name)]
        )
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        try Asking(try parts.resync.question(about: id, write)).carryOut(parts, write)
    }
}

/// What will be asked, and how it is said.
private struct Asking {
    private let answer: Result<ResyncDesk.Question, ResyncDesk.Fault>

    init(_ answer: Result<ResyncDesk.Question, ResyncDesk.Fault>) { self.answer = answer }

    func proposal(
        _ title: String,
        _ subject: String,
        hidden: [(name: StaticString, value: String)]
    ) -> Proposal? {
        if answer == .failure(.unknown) { return nil }
        return Proposal(title: title, subject: subject, detail: word, hidden: hidden, facts: facts, fault: fault)
    }

    func carryOut(_ parts: DashboardParts, _ write: any StoreTransaction) throws(StoreFailure) -> ActionFault? {
        if case .success(let question) = answer { try parts.resync.ask(question, in: write) }
        return fault
    }

    private var fault: ActionFault? {
        switch answer {
        case .success: nil
        case .failure(.unknown): .request(.unknown)
        case .failure(.settled): .settled
        case .failure(.outOfReach): .outOfReach
        }
    }

    /// For the audit log.
    private var word: String {
        switch answer {
        case .success(.subscription(let chain)): "subscription \(chain.original)"
        case .success(.history): "history"
        case .success(.proof): "proof"
        case .failure: ""
        }
    }

    @HTMLBuilder private var facts: HTML {
        if case .success(let question) = answer {
            element("p") {
                switch question {
                case .subscription(let chain):
                    "Apple is asked how the subscription that began with \(chain.original) stands, and for its periods that "
                    "are not known."
                case .history:
                    "Apple is asked for all that the customer of this purchase has bought, and what was taken back of it."
                case .proof: "Apple is asked what this proof stands for. It is asked in any case, sooner or later."
                }
                " The answer comes in its own time, and is recorded like any other proof."
            }
        }
    }
}
