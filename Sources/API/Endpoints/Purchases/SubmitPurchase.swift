import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `POST /v1/purchases`: a proof in, a decision out.
struct SubmitPurchase: Sendable {
    let pipeline: PurchasePipeline
    let store: any Store
    let clock: any WallClock
    /// Whether the caller may speak for a customer.
    let mayAct: @Sendable (Gate.Caller, CustomerID) -> Bool

    func respond(to request: HTTPRequest, from caller: Gate.Caller) async -> HTTPResponse {
        guard JSONBody.isAnnounced(by: request.fields) else { return Problem.unsupportedMediaType() }
        let header = Idempotency.read(request, holder: caller.key.holder)
        if case .invalid = header { return Idempotency.invalid }
        var idempotency: Idempotency? = if case .key(let idempotency) = header { idempotency } else { nil }
        let submission: Submission
        let reader: CustomerID?
        do throws(RequestBody.Fault) {
            // The rest of the way needs only what is read of it.
            let asked = try PurchaseRequest(request.takeBody())
            guard mayAct(caller, asked.customer) else { return Problem.customerToken() }
            submission = asked.submission(from: caller)
            reader = caller.key.kind == .publishable ? asked.customer : nil
            if let reader { idempotency = idempotency?.of(reader) }
        } catch {
            return error.response
        }
        return await respond(to: submission, under: idempotency, for: reader)
    }

    private func respond(
        to submission: Submission,
        under idempotency: Idempotency?,
        for reader: CustomerID?
    ) async -> HTTPResponse {
        var submission = submission
        do throws(StoreFailure) {
            if let idempotency {
                if let kept = try await keptAnswer(idempotency) { return kept }
                // In the commit that records it. What records nothing is decided again, and keeps nothing.
                submission.kept = idempotency.keeping { [clock] decision in
                    (SubmitPurchase.answer(.recorded(decision), to: reader), clock.now)
                }
            }
            var outcome = try await pipeline.submit(submission)
            if case .pending(let id) = outcome {
                outcome = try await pipeline.decision(on: id, for: submission) ?? outcome
            }
            return SubmitPurchase.answer(outcome, to: reader)
        } catch {
            // The same request, made twice at once: the other one was faster.
            if error == .conflict, let idempotency, let kept = try? await keptAnswer(idempotency) { return kept }
            return Problem.store(error)
        }
    }

    private func keptAnswer(_ idempotency: Idempotency) async throws(StoreFailure) -> HTTPResponse? {
        try await store.read { reader throws(StoreFailure) in try idempotency.keptAnswer(reader) }
    }

    /// - Parameters:
    ///   - outcome: what became of the proof.
    ///   - reader: the customer who is answered; `nil` for the shop.
    /// - Returns: the answer.
    private static func answer(_ outcome: Outcome, to reader: CustomerID?) -> HTTPResponse {
        switch outcome {
        case .recorded(let decision):
            .json(.ok) { json in
                json.member("result", decision.isRepetition ? "already_recorded" : "recorded")
                json.array("transactions") { json in
                    for outcome in decision.outcomes { json.object { write(outcome, to: reader, into: &$0) } }
                }
            }
        case .nothingToRecord(let format, _):
            .json(.ok) { json in
                json.member("result", "nothing_to_record")
                json.member("format", format)
                json.array("transactions") { _ in }
            }
        case .pending(let id):
            .json(.accepted, fields: ["Location": "/v1/submissions/\(id.hexadecimal)"]) { json in
                json.member("result", "pending")
                json.member("submission_id", id.hexadecimal)
                json.member("reason", "pending")
            }
        case .refused(let refused):
            Problem.response(
                .unprocessableContent,
                code: "refused",
                detail: "This proof of purchase is not accepted."
            ) { json in
                json.member("verdict", refused.verdict)
                json.member("reason", refused.publicReason)
            }
        case .busy(let retryAfter): Problem.tooManyPending(retryAfter)
        case .customerBusy(let retryAfter): Problem.tooManyPendingOfCustomer(retryAfter)
        }
    }

    /// What a customer is told of a transaction that another one brought is only that: not when, and not by whom. Of what is
    /// shared with her, or was moved to her, she is told all but who had it first, and for which order.
    private static func write(
        _ outcome: TransactionOutcome,
        to reader: CustomerID?,
        into json: inout JSONObjectWriter
    ) {
        json.member("decision", outcome.standing.rawValue)
        guard outcome.standing != .ownedByAnother else {
            json.member("transaction_id", outcome.recorded.transaction.id.description)
            json.member("product_id", outcome.recorded.transaction.product.text)
            return
        }
        TransactionJSON.write(outcome.recorded, to: reader, into: &json)
        if let fulfilment = outcome.fulfilment {
            json.object("fulfilment") { FulfilmentJSON.write(fulfilment, to: reader, into: &$0) }
        }
    }
}
