import Encoding
import HTTP
import PurchaseModel
import Storage

/// `GET /v1/submissions/{id}`: what has become of a proof that could not be decided at once.
struct ReadSubmission: Sendable {
    let store: any Store

    func respond(to text: String, app: AppID) async -> HTTPResponse {
        guard let number = Int64(text), number > 0, String(number) == text else {
            return Problem.notFound("submission")
        }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.submission(SubmissionID(number: number))
            }
            // Another app's submission is not there.
            guard let found, found.submission.app == app else { return Problem.notFound("submission") }
            return .json(.ok) { json in
                json.member("submission_id", text)
                json.member("result", found.settlement == nil ? "pending" : "decided")
                json.member("verdict", found.settlement?.verdict)
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
