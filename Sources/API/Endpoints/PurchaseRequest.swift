import Encoding
import HTTP
import Pipeline
import PurchaseModel

/// The body of `POST /v1/purchases`, read strictly: a member that we do not know is an error, so that a typing mistake
/// never silently drops an order.
struct PurchaseRequest {
    struct Fault: Error {
        let field: String?
        let detail: String
    }

    private let proof: [UInt8]
    private let customer: CustomerID
    private let order: OrderID?
    private let product: ProductID?
    private let deviceID: [UInt8]?

    init(_ body: [UInt8]) throws(Fault) {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(body, limits: JSONLimits(bytesMax: body.count, depthMax: 2))
        } catch {
            throw Fault(field: nil, detail: "The body is not JSON: \(error.description).")
        }
        guard let object = document.root.object else { throw Fault(field: nil, detail: "The body is no object.") }
        for (key, _) in object.members where !PurchaseRequest.members.contains(key) {
            throw Fault(field: key, detail: "There is no such member.")
        }
        guard let proof = object["proof"]?.utf8 else { throw Fault(field: "proof", detail: "A string is needed.") }
        self.proof = Array(proof)
        guard let customer = try PurchaseRequest.identifier(CustomerID.self, "customer_id", object) else {
            throw Fault(field: "customer_id", detail: "A string is needed.")
        }
        self.customer = customer
        order = try PurchaseRequest.identifier(OrderID.self, "order_id", object)
        product = try PurchaseRequest.identifier(ProductID.self, "product_id", object)
        deviceID = try PurchaseRequest.deviceID(object)
    }

    func submission(for app: AppPolicy) -> Submission {
        Submission(app: app, bytes: proof, customer: customer, order: order, product: product, deviceID: deviceID)
    }

    /// JSON by its media type, and not compressed: a compressed body could be a thousand times its size.
    static func isJSON(_ fields: HTTPFields) -> Bool {
        guard let type = fields.single("Content-Type"), fields["Content-Encoding"] == nil else { return false }
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }.map { byte in
            (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        }
        return essence == Array("application/json".utf8)
    }

    private static let members: Set<String> = ["proof", "customer_id", "order_id", "product_id", "device_id"]

    private static func identifier<Identifier: ASCIIIdentifier>(
        _ type: Identifier.Type,
        _ field: String,
        _ object: JSONObject
    ) throws(Fault) -> Identifier? {
        guard let value = object[field], !value.isNull else { return nil }
        guard let text = value.string, let identifier = Identifier(text) else {
            throw Fault(field: field, detail: "1 to \(Identifier.bytesMax) printable ASCII characters, no spaces.")
        }
        return identifier
    }

    private static func deviceID(_ object: JSONObject) throws(Fault) -> [UInt8]? {
        guard let value = object["device_id"], !value.isNull else { return nil }
        guard let bytes = value.utf8.flatMap(Hexadecimal.decodeGroups), bytes.count == 16 || bytes.count == 6 else {
            throw Fault(field: "device_id", detail: "A UUID, or the 6 bytes of a Mac's address in hexadecimal.")
        }
        return bytes
    }
}
