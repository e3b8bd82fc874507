import Foundation

/// Why a request has no useful answer. None of these says anything about a purchase: it stays, and is sent again.
public enum Trouble: Error, Hashable, Sendable {
    /// No answer came. `reason` is for a log.
    case unreachable(reason: String)
    /// The server, or something before it, cannot answer now (408, 425, 429, 5xx).
    case serverBusy(status: Int, code: String?)
    /// The key, or the customer's token, is not taken (401, 403). A new token mends it, or a new version of the app.
    case keyRefused(status: Int, code: String?)
    /// Something about the request is wrong, the address for one (other 3xx and 4xx).
    case requestRefused(status: Int, code: String?)
    /// What came is not the server's: a page of a network that wants a login, say.
    case unreadableAnswer(status: Int)

    /// Whatever a transport has thrown. Its words may name addresses, and customers in them; its number does not.
    static func unreachable(_ error: any Error) -> Trouble {
        let error = error as NSError
        return .unreachable(reason: "\(error.domain) \(error.code)")
    }

    /// Whether waiting alone may mend it. Otherwise the shop should hear of it.
    public var isTemporary: Bool {
        switch self {
        case .unreachable, .serverBusy, .unreadableAnswer: true
        case .keyRefused, .requestRefused: false
        }
    }
}
