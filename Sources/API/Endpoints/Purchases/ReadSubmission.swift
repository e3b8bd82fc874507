import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/submissions/{id}`: what has become of a proof that could not be decided at once; with `?wait=` the answer
/// comes when it is decided, or the time is over.
struct ReadSubmission: Sendable {
    /// The longest wait, in seconds: below what proxies and the listener's stop allow.
    static let waitMax: Int64 = 20

    let waits: SubmissionWait
    /// Whether the caller may speak for a customer, or for nobody.
    let mayAct: @Sendable (Gate.Caller, CustomerID?) -> Bool

    func respond(to text: String, query: String?, from caller: Gate.Caller) async -> HTTPResponse {
        guard let id = SubmissionID(hexadecimal: text) else { return Problem.notFound("submission") }
        do throws(QueryFields.Fault) {
            let seconds = try QueryFields(query, names: ["wait"]).whole("wait", 1...Self.waitMax)
            return await respond(to: id, waiting: .seconds(seconds ?? 0), from: caller)
        } catch {
            return error.response
        }
    }

    private func respond(
        to id: SubmissionID,
        waiting patience: Duration,
        from caller: Gate.Caller
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            guard var found = try await waits.submission(id, of: caller.app.id, patience: .zero) else {
                return Problem.notFound("submission")
            }
            // The id follows from the proof and the customer: who has the one and guesses the other can make it, and is not
            // told whether he has guessed right. Nobody waits for what is not told.
            guard mayAct(caller, found.submission.customer), found.isShown(by: caller.app) else {
                return Problem.notFound("submission")
            }
            if found.settlement == nil, patience > .zero {
                found = try await waits.submission(id, of: caller.app.id, patience: patience) ?? found
            }
            let told = found
            return .json(.ok) { SubmissionJSON.write(told, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }
}
