import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `POST /validator`: what cordova-plugin-purchase asks of `store.validator`, to the letter of its protocol.
///
/// Its client reads bodies of a 200 only, and keeps them for two minutes: a trouble that passes is therefore never one.
///
/// Source: cordova-plugin-purchase 13, `Validator.Request.Body`, `Validator.Response.Payload` and `ErrorCode`.
struct Validator: Sendable {
    /// The plugin's numbers.
    private enum Code: Int {
        case verificationFailed = 6_777_017
        case subscriptionExpired = 6_778_003
    }

    let gate: Gate
    let proofs: PresentProof
    let clock: any WallClock

    /// The plugin asks from a web view, whose origin is the app's own: each answer is for whoever asks.
    func routes(_ template: String) -> [Route] {
        [
            Route(.post, template) { request, path in AnyOrigin.opened(await admit(request, path)) },
            Route(.options, template) { _, _ in AnyOrigin.preflight },
        ]
    }

    /// The key stands in `Authorization`; in the path only one that everybody has anyway.
    private func admit(_ request: HTTPRequest, _ path: PathParameters) async -> HTTPResponse {
        let inPath = path["key"].map { Array($0.utf8) }
        let key = inPath ?? KeyRing.bearer(request.fields.single("Authorization"))
        switch await gate.admit(key, request, .validator) {
        case .failure(.unknown) where inPath != nil: return Problem.notFound("validator")
        case .failure(let refusal): return refusal.response
        case .success(let caller):
            guard inPath == nil || caller.key.kind == .publishable else { return Problem.notFound("validator") }
            return caller.ticket.mark(await respond(to: request, from: caller))
        }
    }

    private func respond(to request: HTTPRequest, from caller: Gate.Caller) async -> HTTPResponse {
        guard JSONBody.isAnnounced(by: request.fields) else { return Problem.unsupportedMediaType() }
        let asked: ValidatorRequest
        do throws(ValidatorFault) {
            asked = try ValidatorRequest(request.body)
        } catch {
            return Self.refuse(.badRequest, .verificationFailed, error.message)
        }
        guard gate.mayAct(caller, for: asked.customer) else { return Problem.customerToken() }
        var submission = Submission(app: caller.app, bytes: asked.proof, customer: asked.customer)
        submission.isFromShop = caller.key.kind == .secret
        do throws(StoreFailure) {
            switch try await proofs.present(submission, beside: Self.rest(asked, caller.key)) {
            case .accepted(let purchase): return answer(asked, purchase)
            case .refused(let verdict, _):
                return Self.refuse(.unprocessableContent, .verificationFailed, "This purchase is refused: \(verdict).")
            case .holdsNothing:
                return Self.refuse(.unprocessableContent, .verificationFailed, "There is no purchase in this.")
            case .later(let wait): return Problem.pending(wait)
            case .full(.app, let wait): return Problem.tooManyPending(wait)
            case .full(.customer, let wait): return Problem.tooManyPendingOfCustomer(wait)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// What else of the customer's is told: no more than the key may read of her, unless she shows a purchase of her own.
    private static func rest(_ asked: ValidatorRequest, _ key: APIKey) -> RestOfCustomer.Wish {
        guard asked.isAboutAllByOne else { return .nothing }
        return key.opens(.customer) ? .ifUsable : .ifOwned
    }

    private func answer(_ asked: ValidatorRequest, _ purchase: PresentedPurchase) -> HTTPResponse {
        let now = clock.now
        let collection = ValidatedPurchase.collection(purchase, of: asked.customer, at: now)
        if collection.isEmpty, purchase.isWithheld || !purchase.transactions.isEmpty {
            let another = "Another customer has presented this purchase."
            let message = purchase.isWithheld ? "This is no purchase of this customer's." : another
            return Self.refuse(.conflict, .verificationFailed, message)
        }
        let meant = collection.filter { $0.product.text == asked.id }
        if asked.isAboutSubscription, !meant.isEmpty, meant.allSatisfy(\.isOver) {
            return Self.refuse(.badRequest, .subscriptionExpired, "The subscription has expired.")
        }
        let receipt = ReceiptAnswer(purchase, sent: asked.proof, excludesOld: false, to: asked.customer, at: now)
        return .json(.ok) { json in
            json.member("ok", true)
            json.object("data") { json in
                json.member("id", asked.id.utf8.isEmpty ? purchase.bundleID : asked.id)
                json.member("latest_receipt", true)
                json.object("transaction") { json in
                    json.member("type", asked.transactionType)
                    receipt.writeDecoded(into: &json)
                }
                json.array("collection") { json in
                    for entry in collection { json.object { entry.write(into: &$0) } }
                }
                json.array("ineligible_for_intro_price") { json in
                    for product in SpentIntroductions.products(in: purchase) { json.element(product.text) }
                }
                if asked.hasUnusableName {
                    json.member("warning", "The applicationUsername is no customer id: nobody owns this purchase yet.")
                }
                json.member("date", now)
            }
        }
    }

    private static func refuse(_ status: HTTPStatus, _ code: Code, _ message: String) -> HTTPResponse {
        .json(.ok) { json in
            json.member("ok", false)
            json.member("status", status.rawValue)
            json.member("code", code.rawValue)
            json.member("message", message)
            json.object("data") { $0.member("latest_receipt", true) }
        }
    }
}
