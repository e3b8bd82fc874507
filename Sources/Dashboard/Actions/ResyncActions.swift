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
        let question = try parts.resync.question(about: place.key, write)
        if question == .failure(.unknown) { return nil }
        return Proposal(
            title: "Ask Apple about \(place.id) now",
            subject: place.subject,
            detail: ResyncText.word(question),
            hidden: place.hidden,
            facts: ResyncText.facts(question),
            fault: ResyncText.fault(question)
        )
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        let question = try parts.resync.question(about: place.key, write)
        if case .success(let question) = question { try parts.resync.ask(question, in: write) }
        return ResyncText.fault(question)
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
        let question = try parts.resync.question(about: id, write)
        if question == .failure(.unknown) { return nil }
        return Proposal(
            title: "Ask Apple about this proof now",
            subject: "submission \(name)",
            detail: ResyncText.word(question),
            hidden: [(name: "id", value: name)],
            facts: ResyncText.facts(question),
            fault: ResyncText.fault(question)
        )
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        let question = try parts.resync.question(about: id, write)
        if case .success(let question) = question { try parts.resync.ask(question, in: write) }
        return ResyncText.fault(question)
    }
}

/// What will be asked, in words.
private enum ResyncText {
    typealias Answer = Result<ResyncDesk.Question, ResyncDesk.Fault>

    static func fault(_ answer: Answer) -> ActionFault? {
        switch answer {
        case .success: nil
        case .failure(.unknown): .request(.unknown)
        case .failure(.settled): .settled
        case .failure(.outOfReach): .outOfReach
        }
    }

    /// For the audit log.
    static func word(_ answer: Answer) -> String {
        switch answer {
        case .success(.subscription(let chain)): "subscription \(chain.original)"
        case .success(.history): "history"
        case .success(.proof): "proof"
        case .failure: ""
        }
    }

    @HTMLBuilder static func facts(_ answer: Answer) -> HTML {
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
