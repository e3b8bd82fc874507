import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `POST /v1/apple/notifications/{token}`: where Apple sends what happens to purchases.
///
/// Apple holds no key of ours: what it sends is signed, or carries the app's shared secret. The token only says for which
/// app it is, and keeps away who guesses.
struct ReceiveNotification: Sendable {
    /// Apple tries five times in a week, the first time after an hour.
    private static let retryAfter = Duration.seconds(3_600)

    let intake: NotificationIntake
    /// By the SHA-256 of the token: how long a look-up takes tells nothing of it.
    private let apps: [[UInt8]: AppPolicy]

    init(intake: NotificationIntake, apps: [AppPolicy], tokens: [AppID: String]) {
        self.intake = intake
        self.apps = Dictionary(
            apps.map { (Self.name(tokens[$0.id] ?? $0.id.text), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func respond(to request: HTTPRequest, token: String) async -> HTTPResponse {
        guard let app = apps[Self.name(token)] else { return Problem.notFound("app") }
        do throws(StoreFailure) {
            return Self.answer(try await intake.take(request.body, for: app))
        } catch {
            return Problem.store(error)
        }
    }

    private static func name(_ token: String) -> [UInt8] { Digest.sha256(Array(token.utf8)) }

    private static func answer(_ outcome: NotificationOutcome) -> HTTPResponse {
        switch outcome {
        case .kept(_, let isNew):
            .json(.ok) { $0.member("result", isNew ? "kept" : "already_kept") }
        case .refused(let refused):
            Problem.response(.unprocessableContent, code: "refused", detail: "This notification is not accepted.") {
                $0.member("verdict", refused.verdict)
                $0.member("reason", refused.publicReason)
            }
        case .undecided:
            Problem.response(
                .serviceUnavailable,
                code: "undecided",
                detail: "Who signed this notification, or for which store, cannot be told yet.",
                retryAfter: retryAfter
            )
        case .needsSharedSecret:
            Problem.response(
                .serviceUnavailable,
                code: "needs_shared_secret",
                detail: "Version 1 notifications need the app's shared secret, and none is configured.",
                retryAfter: retryAfter
            )
        case .tooMuch:
            Problem.response(
                .serviceUnavailable,
                code: "busy",
                detail: "More version 1 notifications that prove nothing new have come within the hour than are kept.",
                retryAfter: retryAfter
            )
        }
    }
}
