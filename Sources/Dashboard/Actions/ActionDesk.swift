import HTTP
import PurchaseModel
import Storage

/// Shows what an operator is about to do, and does it: every action takes the same way.
struct ActionDesk: Sendable {
    /// Of two who change the same at once one is told to try again; here the server does, once.
    private static let triesMax = 2

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
            if let shown { element("p", .class("fault"), .word("role", "alert")) { shown.sentence } }
            proposal.facts
            if let question = proposal.question {
                question
            } else if proposal.fault == nil {
                visit.form(Address(Action.path), label: proposal.title) {
                    Form.hidden(proposal.hidden)
                    Form.hidden([(name: SentOnce.field, value: Token().text)])
                    Form.field("reason", "Reason, for the audit log", value: visit.fields["reason"])
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
        guard let reason = Self.reason(visit.fields["reason"]) else {
            return try await page(visit, action, fault: .noReason)
        }
        for _ in 1..<Self.triesMax {
            if let ending = try await attempt(visit, action, form, reason) {
                return try await answer(visit, action, ending)
            }
        }
        return try await answer(visit, action, try await carryOut(visit, action, form, reason))
    }

    private enum Ending: Sendable {
        case done
        case gone
        case fault(ActionFault)
    }

    private func answer(
        _ visit: Visit,
        _ action: some OperatorAction,
        _ ending: Ending
    ) async throws(StoreFailure) -> HTTPResponse {
        switch ending {
        case .done: return Notices.leave(for: action.back)
        case .gone: return Notices.notFound("thing to do this to", visit)
        case .fault(let fault): return try await page(visit, action, fault: fault)
        }
    }

    /// `nil` when somebody else was faster.
    private func attempt(
        _ visit: Visit,
        _ action: some OperatorAction,
        _ form: SentOnce,
        _ reason: String
    ) async throws(StoreFailure) -> Ending? {
        do throws(StoreFailure) {
            return try await carryOut(visit, action, form, reason)
        } catch .conflict {
            return nil
        }
    }

    private func carryOut<Action: OperatorAction>(
        _ visit: Visit,
        _ action: Action,
        _ form: SentOnce,
        _ reason: String
    ) async throws(StoreFailure) -> Ending {
        let parts = parts
        let ending = try await parts.store.write { write throws(StoreFailure) -> Ending in
            if let isSame = try form.wasSent(write) { return isSame ? .done : .fault(.otherForm) }
            guard let proposal = try action.propose(parts, write, at: visit.now) else { return .gone }
            if let fault = proposal.fault { return .fault(fault) }
            guard proposal.question == nil else { return .fault(.changed) }
            if let fault = try action.carryOut(parts, write, at: visit.now) { return .fault(fault) }
            let detail = proposal.detail.isEmpty ? "" : proposal.detail + "; "
            try write.noteAdminAction(visit.action(Action.word, of: proposal.subject, "\(detail)because: \(reason)"))
            try form.keep(at: visit.now, in: write)
            return .done
        }
        if case .done = ending { parts.changed() }
        return ending
    }

    /// What stands in the log: something, and not a page of it.
    private static func reason(_ text: String) -> String? {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { !$0.properties.isWhitespace }), scalars.count <= ActionFault.reasonMax,
            !scalars.contains("\0")
        else { return nil }
        return text
    }
}
