package import HTTP
package import PurchaseModel
package import Verification

/// Why Apple gave nothing that can be acted upon. No case says anything about a purchase: what Apple does not answer is
/// never a verdict.
package enum AppStoreFailure: Error, Equatable, Sendable {
    /// No answer at all.
    case unreachable(HTTPCallFailure)
    /// An answer that is none of Apple's API: a page, nothing, half of one.
    case unreadable(UnreadableAnswer, HTTPStatus)
    /// Apple's server is in trouble and says so, with nothing that tells more.
    case unavailable(HTTPStatus)
    /// verifyReceipt says so with HTTP 200: 21005 or 21009.
    case troubled(status: Int64)
    /// Apple said 429, or our own budget is used up; nothing is sent before.
    case throttled(until: Timestamp)
    /// Apple, or this app's key, has failed so often that nothing is sent before.
    case resting(until: Timestamp)
    /// 401: the key, its id, the issuer, the app or the clock is wrong. Apple does not say which.
    case unauthorized
    /// Apple's error code.
    case refused(AppleErrorCode)
    /// An HTTP status with which Apple says nothing.
    case unexpected(HTTPStatus)
    /// Something signed in the answer does not verify, or is not for this app and store.
    case untrusted(Reason, detail: String?)
    /// The app has no key for the Server API.
    case notConfigured
    /// What was asked for cannot be sent, such as an id that is none.
    case invalidRequest(field: String)

    /// What to do about it.
    package enum Remedy: Hashable, Sendable {
        /// The same request may do later.
        case retry
        /// The same request, not before.
        case retryAfter(Timestamp)
        /// The same request would fail again: something about it, or about our settings, must change.
        case change
        /// Nothing helps: what was asked for is not there, or may not be done.
        case giveUp
    }

    package var remedy: Remedy {
        switch self {
        case .unreachable(let failure): failure.isRetryable ? .retry : .change
        case .unreadable, .unavailable, .troubled: .retry
        case .throttled(let moment), .resting(let moment): .retryAfter(moment)
        // It is mended outside of the request, and Apple has said it of good tokens; the key rests meanwhile.
        case .unauthorized: .retry
        case .notConfigured, .invalidRequest: .change
        case .refused(let code): code.remedy
        case .unexpected(let status): status.isRetryable ? .retry : .change
        // Whoever answers for Apple today may not tomorrow, and a new intermediate needs an update of ours.
        case .untrusted: .retry
        }
    }

    /// Whether it speaks against the host as a whole, and not against one request.
    var isOutage: Bool {
        switch self {
        // We hung up, or never called: that tells nothing of the other side.
        case .unreachable(.cancelled), .unreachable(.tooManyCalls): false
        case .unreachable(let failure): failure.isRetryable
        case .unreadable, .unavailable, .troubled: true
        case .refused(let code): code.rawValue / 10_000 >= 500
        case .unexpected(let status): status.rawValue >= 500
        default: false
        }
    }
}

/// In what way an answer is none.
package enum UnreadableAnswer: String, Hashable, Sendable, CaseIterable {
    case empty
    /// A page for people.
    case page
    /// JSON that ends too early, or is none.
    case json
    /// JSON of another shape than Apple's.
    case shape
    /// A success that is not the one that Apple names for this request.
    case status
    /// More pages than anybody reads at once.
    case endless

    /// What a body that is no JSON looks like.
    init(of body: [UInt8]) {
        guard let first = body.first(where: { $0 > 0x20 }) else {
            self = .empty
            return
        }
        self = first == UInt8(ascii: "<") ? .page : .json
    }
}
