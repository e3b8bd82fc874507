import Encoding
import HTTP
import PurchaseModel

// Request a Test Notification, and how its delivery went.
extension ServerAPI {
    /// Half a year, in days.
    private static let testDaysMax: Int64 = 182

    func requestTest(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let act = Act.requestTestNotification(app: call.app.bundleID, environment: call.environment)
        let outcome: ActOutcome
        do throws(ActRefusal) {
            outcome = try simulator.perform(act)
        } catch {
            throw .notificationURLNotFound
        }
        guard case .test(let token) = outcome else { throw .generalInternal }
        return .answer { json in json.member("testNotificationToken", token) }
    }

    /// The token is the notification's UUID.
    func testStatus(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        guard let token = AccountToken(call.parameter("token")) else { throw .invalidTestNotificationToken }
        guard let sent = sent.one(call.app.bundleID, call.environment, token.description),
            sent.notice.type == .test, sent.notice.app == call.app.bundleID,
            sent.notice.environment == call.environment, !sent.attempts.isEmpty,
            simulator.now < sent.notice.at.advanced(by: .seconds(Self.testDaysMax * 86_400))
        else { throw .testNotificationNotFound }
        return .answer { json in Self.write(sent, into: &json) }
    }

    /// The newest attempts, at most six: the first and five more.
    static func write(_ sent: SentNotice, into json: inout JSONObjectWriter) {
        json.member("signedPayload", sent.signedPayload)
        json.array("sendAttempts") { list in
            for attempt in sent.attempts.suffix(6) {
                list.object { json in
                    json.member("attemptDate", attempt.at.milliseconds)
                    json.member("sendAttemptResult", attempt.result.rawValue)
                }
            }
        }
    }
}
