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
            guard mayAct(caller, found.submission.customer) else { return Problem.notFound("submission") }
            if found.settlement == nil, patience > .zero {
                found = try await waits.submission(id, of: caller.app.id, patience: patience) ?? found
            }
            let told = found
            return .json(.ok) { Self.write(told, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ found: KeptSubmission, into json: inout JSONObjectWriter) {
        json.member("submission_id", found.id.hexadecimal)
        switch found.settlement?.verdict {
        case nil: json.member("result", "pending")
        case Settlement.givenUp:
            json.member("result", "given_up")
            json.member("reason", "waited_too_long")
        case .some(let verdict):
            json.member("result", "decided")
            json.member("verdict", verdict)
        }
        json.member("customer_id", found.submission.customer?.text)
        json.member("order_id", found.submission.order?.text)
        json.member("received_at", found.submission.receivedAt)
        json.member("decided_at", found.settlement?.at)
    }
}

/// The text of an id in answers and paths: lower-case digits, so that one submission has one path.
extension SubmissionID {
    init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text), let id = SubmissionID(bytes), id.hexadecimal == text else {
            return nil
        }
        self = id
    }

    var hexadecimal: String { Hexadecimal.encode(bytes) }
}
