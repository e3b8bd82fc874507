import Encoding
import HTTP
import Pipeline
import PurchaseModel

/// The body of `POST /v1/purchases`.
struct PurchaseRequest {
    private let proof: [UInt8]
    let customer: CustomerID
    private let order: OrderID?
    private let product: ProductID?
    private let deviceID: [UInt8]?

    init(_ body: [UInt8]) throws(RequestBody.Fault) {
        let body = try RequestBody(body, members: PurchaseRequest.members)
        guard let proof = body["proof"]?.utf8 else {
            throw RequestBody.Fault(field: "proof", detail: "A string is needed.")
        }
        self.proof = Array(proof)
        guard let customer: CustomerID = try body.identifier("customer_id") else {
            throw RequestBody.Fault(field: "customer_id", detail: "A string is needed.")
        }
        self.customer = customer
        order = try body.identifier("order_id")
        product = try body.identifier("product_id")
        deviceID = try PurchaseRequest.deviceID(body)
    }

    func submission(from caller: Gate.Caller) -> Submission {
        var submission = Submission(
            app: caller.app,
            bytes: proof,
            customer: customer,
            order: order,
            product: product,
            deviceID: deviceID
        )
        submission.isFromShop = caller.key.kind == .secret
        return submission
    }

    private static let members: Set<String> = ["proof", "customer_id", "order_id", "product_id", "device_id"]

    private static func deviceID(_ body: RequestBody) throws(RequestBody.Fault) -> [UInt8]? {
        guard let value = body["device_id"] else { return nil }
        guard let bytes = value.utf8.flatMap(Hexadecimal.decodeGroups), bytes.count == 16 || bytes.count == 6 else {
            throw RequestBody.Fault(
                field: "device_id",
                detail: "A UUID, or the 6 bytes of a Mac's address in hexadecimal."
            )
        }
        return bytes
    }
}
