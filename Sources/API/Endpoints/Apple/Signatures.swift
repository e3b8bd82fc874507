import Encoding
import HTTP
import Pipeline
import PurchaseModel

/// `/v1/signatures`: what an app hands to StoreKit for an offer or a request, signed with the merchant's key; and what is
/// wrong with a signature that StoreKit does not take.
struct Signatures: Sendable {
    let desks: [AppID: MerchantDesk]
    let clock: any WallClock

    private typealias Answer = (MerchantDesk, Timestamp) throws(RequestBody.Fault) -> HTTPResponse

    /// `POST /v1/signatures/promotional-offer`: both of Apple's forms.
    func promotionalOffer(_ request: HTTPRequest, app: AppID) -> HTTPResponse {
        answer(request, app) { desk, now throws(RequestBody.Fault) in
            let names: Set = ["product_id", "offer_id", "account", "transaction_id"]
            let body = try RequestBody(request.body, members: names)
            let product: ProductID = try RequestBody.needed(body.identifier("product_id"), "product_id")
            let offer = try RequestBody.needed(body.text("offer_id"), "offer_id")
            let account = try body.text("account") ?? ""
            let transaction = try body.transaction("transaction_id")
            let signed = try Self.signing { () throws(MerchantDesk.Fault) in
                try desk.promotionalOffer(offer, of: product, account: account, transaction: transaction, at: now)
            }
            return .json(.ok) { json in
                json.member("key_id", signed.keyID)
                json.member("nonce", signed.nonce)
                json.member("timestamp", signed.timestamp)
                json.member("signature", signed.signature)
                json.member("jws", signed.jws)
            }
        }
    }

    /// `POST /v1/signatures/introductory-offer`
    func introductoryOffer(_ request: HTTPRequest, app: AppID) -> HTTPResponse {
        answer(request, app) { desk, now throws(RequestBody.Fault) in
            let body = try RequestBody(request.body, members: ["product_id", "transaction_id", "is_allowed"])
            let product: ProductID = try RequestBody.needed(body.identifier("product_id"), "product_id")
            let transaction = try RequestBody.needed(body.transaction("transaction_id"), "transaction_id")
            let isAllowed = try RequestBody.needed(body.bool("is_allowed"), "is_allowed")
            let jws = try Self.signing { () throws(MerchantDesk.Fault) in
                try desk.introductoryOffer(of: product, isAllowed: isAllowed, transaction: transaction, at: now)
            }
            return .json(.ok) { $0.member("jws", jws) }
        }
    }

    /// `POST /v1/signatures/advanced-commerce`: the request is a text, since it is signed byte for byte.
    func advancedCommerce(_ request: HTTPRequest, app: AppID) -> HTTPResponse {
        answer(request, app) { desk, now throws(RequestBody.Fault) in
            let body = try RequestBody(request.body, members: ["request"])
            let text = try RequestBody.needed(body.text("request"), "request")
            let jws = try Self.signing { () throws(MerchantDesk.Fault) in
                try desk.advancedCommerce(request: Array(text.utf8), at: now)
            }
            return .json(.ok) { $0.member("jws", jws) }
        }
    }

    /// `POST /v1/signatures/explain`: of a JWS, or of the seven parts of the older form.
    func explain(_ request: HTTPRequest, app: AppID) -> HTTPResponse {
        answer(request, app) { desk, now throws(RequestBody.Fault) in
            let old = ["key_id", "product_id", "offer_id", "account", "nonce", "timestamp", "signature"]
            let body = try RequestBody(request.body, members: Set(old).union(["jws"]))
            let findings: [MerchantDesk.Finding]
            if body.has("jws") {
                let jws = try RequestBody.needed(body.text("jws"), "jws")
                try body.refuse(old, beside: "jws")
                findings = desk.explain(jws: jws, at: now)
            } else {
                findings = desk.explain(
                    try RequestBody.needed(body.text("signature"), "signature"),
                    keyID: try body.text("key_id") ?? "",
                    product: try body.text("product_id") ?? "",
                    offer: try body.text("offer_id") ?? "",
                    account: try body.text("account") ?? "",
                    nonce: try body.text("nonce") ?? "",
                    timestamp: try body.whole("timestamp", 0...Int64.max) ?? 0,
                    at: now
                )
            }
            return .json(.ok) { json in
                json.member("is_good", findings.isEmpty)
                json.array("findings") { json in
                    for finding in findings {
                        json.object { json in
                            json.member("code", finding.code)
                            json.member("detail", finding.sentence)
                        }
                    }
                }
            }
        }
    }

    private func answer(_ request: HTTPRequest, _ app: AppID, _ answer: Answer) -> HTTPResponse {
        guard JSONBody.isAnnounced(by: request.fields) else { return Problem.unsupportedMediaType() }
        guard let desk = desks[app] else {
            return Problem.conflict("no_key", "The app has no key of App Store Connect configured.")
        }
        do throws(RequestBody.Fault) {
            return try answer(desk, clock.now)
        } catch {
            return error.response
        }
    }

    private static func signing<Signed>(
        _ sign: () throws(MerchantDesk.Fault) -> Signed
    ) throws(RequestBody.Fault) -> Signed {
        do throws(MerchantDesk.Fault) {
            return try sign()
        } catch {
            throw RequestBody.Fault(field: error.field, detail: "It cannot be signed.")
        }
    }
}

extension RequestBody {
    fileprivate func transaction(_ field: String) throws(Fault) -> TransactionID? {
        guard let text = try text(field) else { return nil }
        guard let id = TransactionID(text) else { throw Fault(field: field, detail: "The number of a transaction.") }
        return id
    }
}
