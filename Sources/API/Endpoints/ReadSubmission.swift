import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/submissions/{id}`: what has become of a proof that could not be decided at once.
struct ReadSubmission: Sendable {
    let store: any Store

    func respond(to text: String, app: AppID) async -> HTTPResponse {
        guard let id = SubmissionID(hexadecimal: text) else { return Problem.notFound("submission") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
            // Another app's submission is not there.
            guard let found, found.submission.app == app else { return Problem.notFound("submission") }
            return .json(.ok) { json in
                json.member("submission_id", text)
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
                json.member("received_at", TransactionJSON.text(found.submission.receivedAt))
                json.member("decided_at", TransactionJSON.text(found.settlement?.at))
            }
        } catch {
            return Problem.store(error)
        }
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
