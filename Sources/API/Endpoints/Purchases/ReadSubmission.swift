import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// `GET /v1/submissions/{id}`: what has become of a proof that could not be decided at once; with `?wait=` the answer
/// comes when it is decided, or the time is over.
final class ReadSubmission: Sendable {
    /// The longest wait, in seconds: below what proxies and the listener's stop allow.
    static let waitMax: Int64 = 20
    /// Who comes on top is answered at once: requests that wait take the places of others.
    static let waitingMax = 256
    /// Between two looks. A decision takes as long as Apple does, some seconds.
    private static let step = Duration.milliseconds(500)

    private let store: any Store
    private let pause: @Sendable (Duration) async -> Bool
    private let waiting = Mutex(0)

    /// - Parameters:
    ///   - store: where what waits is kept.
    ///   - pause: lets a while pass; false when it is not to be waited any more.
    init(store: any Store, pause: @escaping @Sendable (Duration) async -> Bool) {
        self.store = store
        self.pause = pause
    }

    func respond(to text: String, query: String?, app: AppID) async -> HTTPResponse {
        guard let id = SubmissionID(hexadecimal: text) else { return Problem.notFound("submission") }
        do throws(QueryFields.Fault) {
            let seconds = try QueryFields(query, names: ["wait"]).whole("wait", 1...Self.waitMax)
            return await respond(to: id, waiting: .seconds(seconds ?? 0), app: app)
        } catch {
            return error.response
        }
    }

    private func respond(to id: SubmissionID, waiting patience: Duration, app: AppID) async -> HTTPResponse {
        do throws(StoreFailure) {
            guard var found = try await find(id, app) else { return Problem.notFound("submission") }
            if found.settlement == nil, patience > .zero, takePlace() {
                defer { waiting.withLock { $0 -= 1 } }
                var waited = Duration.zero
                while found.settlement == nil, waited < patience, await pause(Self.step) {
                    waited += Self.step
                    found = try await find(id, app) ?? found
                }
            }
            return .json(.ok) { Self.write(found, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    private func takePlace() -> Bool {
        waiting.withLock { waiting in
            guard waiting < Self.waitingMax else { return false }
            waiting += 1
            return true
        }
    }

    /// Another app's submission is not there.
    private func find(_ id: SubmissionID, _ app: AppID) async throws(StoreFailure) -> KeptSubmission? {
        let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
        return found?.submission.app == app ? found : nil
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
        json.member("received_at", TransactionJSON.text(found.submission.receivedAt))
        json.member("decided_at", TransactionJSON.text(found.settlement?.at))
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
