import HTTP
import PurchaseModel
import Storage

/// Shows what an operator is about to do, and does it: every action takes the same way.
struct ActionDesk: Sendable {
    let parts: DashboardParts

    /// The page of an action.
    func show<Action: OperatorAction>(
        _ visit: Visit,
        _ kind: Action.Type
    ) async throws(StoreFailure) -> HTTPResponse {
        guard let action = Action(visit.fields) else { return Notices.malformed() }
        return try await page(visit, action, fault: nil)
    }

    private func page(
        _ visit: Visit,
        _ action: some OperatorAction,
        fault: ActionFault?
    ) async throws(StoreFailure) -> HTTPResponse {
        let parts = parts
        let found = try await parts.store.write { write throws(StoreFailure) in
            try action.propose(parts, write, at: visit.now)
        }
        guard let proposal = found else { return Notices.notFound("thing to do this to", visit) }
        return page(visit, action, proposal, fault: fault)
    }

    private func page<Action: OperatorAction>(
        _ visit: Visit,
        _ action: Action,
        _ proposal: Proposal,
        fault: ActionFault?
    ) -> HTTPResponse {
        let shown = fault ?? proposal.fault
        return Page(proposal.title, visit: visit) {
            Form.fault(shown?.sentence)
            proposal.facts
            if let question = proposal.question {
                question
            } else if proposal.fault == nil {
                visit.formOnce(Address(Action.path), label: proposal.title) {
                    for field in proposal.hidden { Form.hidden(field.name, field.value) }
                    Form.field("reason", Self.label(Action.isReasonTold), value: visit.fields["reason"])
                }
            }
            element("p") { element("a", .href(action.back)) { "Leave it as it is" } }
        }.response(shown?.status ?? .ok)
    }

    /// The form on it.
    func send<Action: OperatorAction>(
        _ visit: Visit,
        _ kind: Action.Type
    ) async throws(StoreFailure) -> HTTPResponse {
        guard let action = Action(visit.fields), let form = SentOnce(visit) else {
            return Notices.malformed()
        }
        let reason = visit.fields["reason"]
        guard Motive.isReason(reason), reason.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            return try await page(visit, action, fault: .noReason)
        }
        let parts = parts
        let ending = try await form.carryOut(in: parts.store, at: visit.now) { write throws(StoreFailure) in
            try Self.carryOut(visit, action, parts, write, because: reason)
        }
        switch ending {
        case .done:
            action.follow(parts)
            parts.changed()
        case .again: break
        case .otherForm: return try await page(visit, action, fault: .otherForm)
        case .refused(.gone): return Notices.notFound("thing to do this to", visit)
        case .refused(.fault(let fault)): return try await page(visit, action, fault: fault)
        }
        return Notices.leave(for: action.back)
    }

    private enum Undone: Error {
        case gone
        case fault(ActionFault)
    }

    private static func carryOut<Action: OperatorAction>(
        _ visit: Visit,
        _ action: Action,
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because reason: String
    ) throws(StoreFailure) -> Result<(value: Void, action: AdminAction), Undone> {
        guard let proposal = try action.propose(parts, write, at: visit.now) else { return .failure(.gone) }
        if let fault = proposal.fault { return .failure(.fault(fault)) }
        guard proposal.question == nil else { return .failure(.fault(.changed)) }
        let motive = Motive(actor: visit.actor, reason: reason)
        if let fault = try action.carryOut(parts, write, because: motive, at: visit.now) {
            return .failure(.fault(fault))
        }
        let detail = proposal.detail.isEmpty ? "" : proposal.detail + "; "
        return .success(((), visit.action(Action.word, of: proposal.subject, "\(detail)because: \(reason)")))
    }

    private static func label(_ isTold: Bool) -> String {
        isTold ? "Reason: it is kept with it, and told to the shop" : "Reason, for the audit log"
    }
}
