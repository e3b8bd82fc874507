import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What goes wrong, as RFC 9457 problems with a stable `code`. A temporary trouble is always 408, 429 or 5xx
/// with Retry-After; any other 4xx means that the same request will never do.
enum Problem {
    /// - Parameters:
    ///   - status: a 4xx or 5xx.
    ///   - code: a stable word.
    ///   - detail: one sentence for whoever reads the client's log.
    ///   - retryAfter: given exactly when the same request may do later.
    ///   - members: further members of the problem object.
    /// - Returns: the whole answer.
    static func response(
        _ status: HTTPStatus,
        code: String,
        detail: String,
        retryAfter: Duration? = nil,
        members: (inout JSONObjectWriter) -> Void = { _ in }
    ) -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("type", "about:blank")
            json.member("title", status.phrase)
            json.member("status", status.rawValue)
            json.member("code", code)
            json.member("detail", detail)
            json.member("retryable", retryAfter != nil)
            members(&json)
        }
        var fields: HTTPFields = ["Content-Type": "application/problem+json"]
        if let retryAfter { fields["Retry-After"] = retryText(retryAfter) }
        return HTTPResponse(status, fields: fields, body: body)
    }

    static func unauthorized() -> HTTPResponse {
        var response = response(
            .unauthorized,
            code: "unauthorized",
            detail: "A bearer key is needed, and this is none that is known."
        )
        response.fields["WWW-Authenticate"] = "Bearer"
        return response
    }

    /// A key that may not do this.
    static func scope(_ scope: Scope) -> HTTPResponse {
        response(
            .forbidden,
            code: "scope_missing",
            detail: "This key may not do that: it has not the scope \(scope.rawValue)."
        ) { $0.member("scope", scope.rawValue) }
    }

    /// A publishable key that does not show for whom it speaks.
    static func customerToken() -> HTTPResponse {
        response(
            .forbidden,
            code: "customer_token_invalid",
            detail: "A publishable key needs the customer's token in \(CustomerToken.field)."
        )
    }

    static func notFound(_ what: String) -> HTTPResponse {
        response(.notFound, code: "not_found", detail: "There is no such \(what).")
    }

    static func unsupportedMediaType() -> HTTPResponse {
        response(
            .unsupportedMediaType,
            code: "unsupported_media_type",
            detail: "Send application/json in UTF-8, uncompressed."
        )
    }

    /// What the rules refuse. None of it mends itself.
    static func request(_ fault: RequestFault, _ what: String) -> HTTPResponse {
        switch fault {
        case .unknown: notFound(what)
        case .otherOrder: conflict("order_id_taken", "The id is that of another order.")
        case .orderIs(let state):
            conflict("order_is_\(state.rawValue)", "The order is past the state in which this can be done.")
        case .fulfilmentIs(let state):
            conflict("purchase_is_\(state.rawValue)", "The purchase is past the state in which this can be done.")
        case .doesNotFit:
            conflict("does_not_fit", "What was bought is not what the order asks for, or not by this customer.")
        case .tokenContradicts:
            conflict(
                "account_token_contradicts",
                "Apple signed it with an account token that is another order's, or another customer's."
            )
        case .staleFence(let fence):
            conflict("stale_fence", "What is to be delivered has changed since.") { $0.member("fence", fence) }
        case .sameOwner: conflict("same_owner", "It is this customer's already.")
        case .insufficient(let balance):
            conflict("insufficient_balance", "The balance is smaller than that.") { $0.member("balance", balance) }
        case .unknownCurrency(let known):
            conflict("unknown_currency", "No product gives such a currency, and the customer has none of it.") { json in
                json.array("currencies") { json in for currency in known { json.element(currency.text) } }
            }
        case .outOfRange: conflict("out_of_range", "The sum is beyond all numbers.")
        case .isOver: conflict("already_over", "The moment until when it is to last has passed.")
        }
    }

    /// What is not decided yet, for protocols that have no word for it.
    static func pending(_ wait: Duration) -> HTTPResponse {
        response(
            .serviceUnavailable,
            code: "pending",
            detail: "This proof of purchase is kept, and not decided yet.",
            retryAfter: wait
        )
    }

    /// As many of an app wait already as may.
    static func tooManyPending(_ wait: Duration) -> HTTPResponse {
        response(
            .serviceUnavailable,
            code: "too_many_pending",
            detail: "Too many proofs wait for a decision already.",
            retryAfter: wait
        )
    }

    /// As many of one customer wait already as may.
    static func tooManyPendingOfCustomer(_ wait: Duration) -> HTTPResponse {
        response(
            .tooManyRequests,
            code: "too_many_pending_of_customer",
            detail: "Too many proofs of this customer wait for a decision already.",
            retryAfter: wait
        )
    }

    static func conflict(
        _ code: String,
        _ detail: String,
        members: (inout JSONObjectWriter) -> Void = { _ in }
    ) -> HTTPResponse {
        response(.conflict, code: code, detail: detail, members: members)
    }

    /// Every way in which the store can fail is ours to mend, never the client's: a proof that it cannot hold was
    /// refused by the pipeline.
    static func store(_ failure: StoreFailure) -> HTTPResponse {
        switch failure {
        case .busy, .conflict:
            response(
                .serviceUnavailable,
                code: "busy",
                detail: "More is waiting than can be written now.",
                retryAfter: .seconds(1)
            )
        case .unreachable:
            response(
                .serviceUnavailable,
                code: "database_unreachable",
                detail: "The ledger's database cannot be reached, or takes no writes.",
                retryAfter: .seconds(1)
            )
        case .full:
            response(
                .serviceUnavailable,
                code: "storage_full",
                detail: "There is no room to record anything.",
                retryAfter: .seconds(60)
            )
        case .closed:
            response(
                .serviceUnavailable,
                code: "stopping",
                detail: "The server is stopping.",
                retryAfter: .seconds(5)
            )
        case .broken, .unstorable:
            response(
                .serviceUnavailable,
                code: "storage_failed",
                detail: "The ledger cannot be written.",
                retryAfter: .seconds(30)
            )
        }
    }

    /// As `Retry-After` has it: whole seconds, one at least.
    static func retryText(_ duration: Duration) -> String { String(max(1, seconds(duration))) }

    private static func seconds(_ duration: Duration) -> Int64 {
        let (whole, rest) = duration.components
        return rest > 0 ? whole + 1 : whole
    }
}
