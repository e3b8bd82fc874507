package import HTTP
package import PurchaseModel

/// What an endpoint's answer, or its silence, means for the message and for the next ones.
///
/// Source: Standard Webhooks 1.0.0, *Delivery success and failure*.
package enum WebhookVerdict: Hashable, Sendable {
    /// 200 to 299.
    case delivered
    /// 410: this endpoint is to be sent nothing any more.
    case gone
    /// 429, 502, 503, 504: it has too much to do. With how long it wants to be left alone, if it said so.
    case throttled(Duration?)
    /// Any other answer, a redirect among them, or none. With the same.
    case failed(Duration?)
    /// Nothing was sent, or we broke off ourselves: it says nothing about the endpoint.
    case notTried

    /// No endpoint can have a message wait longer for its next attempt than the schedule's longest pause.
    package static let pauseMax = Duration.seconds(86_400)

    package init(_ answer: HTTPResponse, at now: Timestamp) {
        let pause = WebhookVerdict.pause(answer.fields, at: now)
        switch answer.status.rawValue {
        case 200...299: self = .delivered
        case 410: self = .gone
        case 429, 502, 503, 504: self = .throttled(pause)
        default: self = .failed(pause)
        }
    }

    package init(_ failure: HTTPCallFailure) {
        switch failure {
        case .cancelled, .tooManyCalls: self = .notTried
        default: self = .failed(nil)
        }
    }

    /// What `Retry-After` says (RFC 9110 § 10.2.3), as seconds or as a date; nil when it is neither, or stands there
    /// twice. At most ``pauseMax``.
    private static func pause(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        guard let text = fields.single("Retry-After") else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !text.isEmpty {
            // More digits than a number holds are longer than anything that is allowed.
            return Int64(text).map { min(.seconds($0), pauseMax) } ?? pauseMax
        }
        return HTTPDate.milliseconds(text, at: now.milliseconds).map { moment in
            min(max(now.duration(to: Timestamp(milliseconds: moment)), .zero), pauseMax)
        }
    }
}
