import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What a request with an `Idempotency-Key` was answered is kept in the commit that it led to, and is the answer to the
/// same request again.
///
/// Source: draft-ietf-httpapi-idempotency-key-header.
struct Idempotency: Sendable {
    private var name: IdempotencyName
    private let fingerprint: [UInt8]

    enum Header {
        case none
        case invalid
        case key(Idempotency)
    }

    static func read(_ request: HTTPRequest, holder: KeyRing.Holder) -> Header {
        guard request.fields["Idempotency-Key"] != nil else { return .none }
        guard let key = request.fields.single("Idempotency-Key"), (1...255).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return .invalid }
        // No part has a NUL in it before the body.
        let parts = [
            Array(request.method.rawValue.utf8), Array(request.path.utf8), Array((request.query ?? "").utf8),
            request.body,
        ]
        let name = IdempotencyName(holder: "\(holder.app) \(holder.name)", key: key)
        return .key(Idempotency(name: name, fingerprint: Digest.sha256(Array(parts.joined(separator: [0])))))
    }

    /// The same for one of a key's many customers: everybody has a publishable key, and nobody is to take a name that another
    /// customer will use. A digest, since the parts are together longer than a holder may be; no key's name has a space.
    func of(_ customer: CustomerID) -> Idempotency {
        var narrowed = self
        let parts = [Array(name.holder.utf8), Array(customer.text.utf8)]
        narrowed.name.holder = "one customer \(Hexadecimal.encode(Digest.sha256(Array(parts.joined(separator: [0])))))"
        return narrowed
    }

    static var invalid: HTTPResponse {
        Problem.response(
            .badRequest,
            code: "invalid_idempotency_key",
            detail: "An Idempotency-Key is 1 to 255 printable ASCII characters without spaces, given once."
        )
    }

    /// What was answered under this key; `nil` for a new one.
    func keptAnswer(_ reader: any StoreReader) throws(StoreFailure) -> HTTPResponse? {
        guard let kept = try reader.keptAnswer(name) else { return nil }
        guard kept.fingerprint == fingerprint else {
            return Problem.conflict(
                "idempotency_key_reused",
                "Another request was made under this Idempotency-Key."
            )
        }
        return HTTPResponse(
            HTTPStatus(rawValue: kept.status),
            fields: ["Content-Type": kept.contentType, "Idempotent-Replayed": "true"],
            body: kept.body
        )
    }

    /// The row that keeps an answer.
    func row(_ response: HTTPResponse, at now: Timestamp) -> KeptAnswer {
        KeptAnswer(
            name: name,
            fingerprint: fingerprint,
            status: response.status.rawValue,
            contentType: response.fields["Content-Type"] ?? "application/json",
            body: response.body,
            keptAt: now
        )
    }

    /// How the answer to a proof is kept in the commit of what was decided about it.
    func keeping(_ answer: @escaping @Sendable (Decision) -> (HTTPResponse, now: Timestamp)) -> KeptDecision {
        KeptDecision(name: name) { decision in
            let (response, now) = answer(decision)
            return row(response, at: now)
        }
    }

    /// Gives the kept answer, or carries the request out and keeps what was answered.
    func answer(
        in transaction: any StoreTransaction,
        at now: Timestamp,
        _ body: () throws(StoreFailure) -> Gate.Answer
    ) throws(StoreFailure) -> HTTPResponse {
        if let kept = try keptAnswer(transaction) { return kept }
        let answer = try body()
        if answer.shown.status.rawValue < 500 { try transaction.keepAnswer(row(answer.kept, at: now)) }
        return answer.shown
    }
}
