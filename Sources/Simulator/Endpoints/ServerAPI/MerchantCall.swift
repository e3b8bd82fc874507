import Encoding
import HTTP
import PurchaseModel

/// One request that was let in.
struct MerchantCall: Sendable {
    let app: StoreApp
    let environment: StoreEnvironment
    let query: Query
    private let request: HTTPRequest
    private let parameters: PathParameters

    init(
        _ merchant: Merchant,
        _ environment: StoreEnvironment,
        _ request: HTTPRequest,
        _ parameters: PathParameters
    ) {
        app = merchant.app
        self.environment = environment
        self.request = request
        self.parameters = parameters
        query = Query(request.query)
    }

    /// In answers, as Apple writes it.
    var environmentName: String { environment.answerName }

    /// Sandbox answers carry none.
    var appleID: Int64? { environment == .production ? app.appleID : nil }

    func parameter(_ name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("no \(name) in the path's template") }
        return value
    }

    /// The path's id in decimal digits; a number that nobody has is found missing later.
    func id(else fault: ServerAPIError = .invalidTransactionID) throws(ServerAPIError) -> String {
        try Self.id(parameter("id"), else: fault)
    }

    static func id(_ text: String, else fault: ServerAPIError) throws(ServerAPIError) -> String {
        guard !text.utf8.isEmpty, text.utf8.count <= idDigitsMax,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw fault }
        return text
    }

    /// The body's JSON object.
    func body() throws(ServerAPIError) -> JSONObject {
        guard let document = try? JSONDocument(request.body, limits: Self.bodyLimits), let object = document.root.object
        else { throw .generalBadRequest }
        return object
    }

    var bodyBytes: [UInt8] { request.body }

    /// Ids are 64-bit numbers.
    private static let idDigitsMax = 19
    /// No body of this API comes near.
    private static let bodyLimits = JSONLimits(bytesMax: 1 << 18, depthMax: 16)
}

extension JSONObject {
    /// The member, if it is there and not `null`.
    func given(_ name: String) -> JSONValue? {
        self[name].flatMap { $0.isNull ? nil : $0 }
    }
}

extension HTTPResponse {
    /// A JSON object, as Apple sends it.
    static func answer(_ status: HTTPStatus = .ok, _ body: (inout JSONObjectWriter) -> Void) -> HTTPResponse {
        HTTPResponse(status, fields: ["Content-Type": "application/json"], body: JSONWriter.object(body))
    }
}
