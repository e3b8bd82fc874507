import HTTP

/// Answers that scripts of any origin may read, as web views do. Whoever asks shows a key of its own, and no browser adds a
/// cookie or anything else that stands for somebody: what a page may read here, everybody may who has that key.
///
/// - Note: Fetch, *CORS protocol*.
enum AnyOrigin {
    /// How long a browser need not ask again, in seconds; each has a bound of its own below that.
    private static let secondsKept = 86_400

    /// What a browser asks first: nothing is read for it, and no key is with it.
    static let preflight = opened(
        HTTPResponse(
            .noContent,
            fields: [
                "Access-Control-Allow-Methods": "POST",
                "Access-Control-Allow-Headers": "Authorization, Content-Type, \(CustomerToken.field)",
                "Access-Control-Max-Age": "\(secondsKept)",
            ]
        )
    )

    /// The same answer for any origin, and with it when to come again.
    static func opened(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.fields["Access-Control-Allow-Origin"] = "*"
        response.fields["Access-Control-Expose-Headers"] = "Retry-After"
        return response
    }
}
