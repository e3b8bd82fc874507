import Crypto
package import PurchaseModel
package import Storage
import Verification

/// A proof of purchase as it came in, and what its sender says about it.
package struct Submission: Sendable {
    package let app: AppPolicy
    /// The proof in any format and wrapping, as received; of the body of a request to verifyReceipt what stands in its
    /// `receipt-data`, for the app's shared secret stands beside it.
    package let bytes: [UInt8]
    /// `nil` when the sender does not say who bought.
    package let customer: CustomerID?
    package let order: OrderID?
    /// The product that is being paid; a proof without it is refused.
    package let product: ProductID?
    /// 16 bytes (identifierForVendor) or 6 (a Mac's address).
    package let deviceID: [UInt8]?
    /// The stores of which it may be recorded, also once Apple was asked; `nil` for all of the app.
    package var environments: Set<StoreEnvironment>?
    /// Whether the shop's own server brings it, and is believed when it names a purchase. Whoever else does shows by a number
    /// of Apple's, which may be guessed, only what to ask Apple about.
    package var isFromShop = true
    /// Whether it is refused where nobody has signed it, and Apple would have to be asked what is true of it.
    package var mustBeSigned = false
    /// The answer that is to be kept in the commit of the decision, if there is one; `nil` keeps none.
    package var kept: KeptDecision?

    package init(
        app: AppPolicy,
        bytes: [UInt8],
        customer: CustomerID?,
        order: OrderID? = nil,
        product: ProductID? = nil,
        deviceID: [UInt8]? = nil
    ) {
        self.app = app
        self.bytes = BareProof.of(bytes)
        self.customer = customer
        self.order = order
        self.product = product
        self.deviceID = deviceID
        environments = app.sight
    }

    /// The name under which it is kept, the same for whoever sends the same again.
    func id(of digest: ProofDigest) -> SubmissionID { SubmissionID(app: app.id, customer: customer, digest) }

    /// What makes it the same one among those that wait. Of what anybody may send that is what it is about, however it is
    /// written; the shop may send a newer answer of Apple's about the same, to have it asked once more. What is for some stores
    /// only is another than what is for all, and what is only named another than what makes the purchase somebody's.
    ///
    /// - Parameters:
    ///   - digest: of the bytes.
    ///   - matter: what it is about; `nil` where it is the shop's.
    /// - Returns: `digest` itself of the shop's that is for all stores.
    func keptDigest(_ digest: ProofDigest, about matter: Matter?) -> ProofDigest {
        let stores = environments.map { $0.map { "," + $0.rawValue }.sorted().joined() } ?? ""
        guard let matter else {
            return stores.utf8.isEmpty ? digest : ProofDigest(of: bytes + Array(stores.utf8))
        }
        return ProofDigest(of: matter.bytes + Array((stores + (matter.onlyNames ? ",named" : "")).utf8))
    }

    /// The account token that client libraries make of the customer's name.
    var customerToken: AccountToken? { customer.flatMap { AccountToken(ofCustomer: $0) } }

    var expectation: Expectation {
        Expectation(
            bundleID: app.bundleID,
            appleID: app.appleID,
            environments: app.environments,
            products: app.products,
            product: product,
            deviceID: deviceID,
            refusesEarly: true
        )
    }
}

/// How the answer to a request is made, for the same request to be answered alike.
package struct KeptDecision: Sendable {
    /// What makes two requests the same one.
    package let name: IdempotencyName
    /// Makes the answer under this name.
    package let answer: @Sendable (Decision) -> KeptAnswer

    package init(name: IdempotencyName, answer: @escaping @Sendable (Decision) -> KeptAnswer) {
        self.name = name
        self.answer = answer
    }

    /// Keeps the answer beside what it tells of. What was bought counts more than the answer to it: of a receipt so long
    /// that no answer can be kept the purchases are recorded, and the same request is answered from them.
    func keep(_ decision: Decision, in transaction: any StoreTransaction) throws(StoreFailure) {
        let answer = answer(decision)
        if answer.body.count <= KeptAnswer.bodyBytesMax { try transaction.keepAnswer(answer) }
    }
}

extension SubmissionID {
    /// Neither an app's id nor a customer's has a NUL in it, so that no two submissions run together.
    init(app: AppID, customer: CustomerID?, _ digest: ProofDigest) {
        let parts = [Array(app.text.utf8), Array((customer?.text ?? "").utf8), digest.bytes]
        let hash = Digest.sha256(Array(parts.joined(separator: [0])))
        guard let id = SubmissionID(Array(hash.prefix(SubmissionID.byteCount))) else {
            preconditionFailure("a SHA-256 has more bytes than a name")
        }
        self = id
    }
}

extension AccountToken {
    /// What client libraries make of a customer's name for apps that set no token of their own.
    package init?(ofCustomer customer: CustomerID) {
        guard let halves = NameUUID.version3(Array(customer.text.utf8)) else { return nil }
        self.init(high: halves.high, low: halves.low)
    }
}
