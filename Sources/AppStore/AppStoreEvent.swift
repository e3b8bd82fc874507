package import HTTP
package import PurchaseModel
package import Verification

/// What happened between us and Apple, for whoever counts and writes the log. No id, receipt or token is in it.
package enum AppStoreEvent: Sendable {
    /// One request was answered.
    case answered(AppleLane, HTTPStatus, duration: Duration)
    /// One request brought nothing.
    case failed(AppleLane, AppStoreFailure, duration: Duration)
    /// A request was not sent, since the budget is used up or Apple said so.
    case heldBack(AppleLane, until: Timestamp)
    /// Apple said 429, although our budget allowed the request.
    case throttled(AppleLane, until: Timestamp)
    /// Nothing is sent for a while: Apple, or a key, fails again and again.
    case resting(AppleLane, until: Timestamp)
    /// It answers again.
    case recovered(AppleLane)
    /// Apple's clock shows this much more than ours. Tokens are dated by Apple's from now on.
    case clockSkew(Duration)
    /// Apple refuses a receipt whose signature is good.
    case disagreement(AppleLane, status: Int64)
    /// Something signed in Apple's answer does not verify.
    case untrusted(AppleLane, Reason)
}
