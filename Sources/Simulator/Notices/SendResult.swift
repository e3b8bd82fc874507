package import HTTP

extension SentNotice.Result {
    /// What an answer counts as: 200 to 206 is success, whatever else it says.
    package init(_ response: HTTPResponse) {
        self = (200...206).contains(response.status.rawValue) ? .success : .unsuccessfulStatus
    }

    /// Apple's word for why there was no answer.
    package init(_ failure: HTTPCallFailure) {
        switch failure {
        case .timedOut: self = .timedOut
        case .tls: self = .tlsIssue
        case .tooManyRedirects: self = .circularRedirect
        case .noResponse: self = .noResponse
        case .unresolved, .unreachable, .addressRefused, .connectionLost, .proxy: self = .socketIssue
        case .malformedResponse, .tooLarge: self = .invalidResponse
        case .closedEarly: self = .prematureClose
        case .invalidCall, .tooManyCalls, .cancelled, .other: self = .other
        }
    }
}
