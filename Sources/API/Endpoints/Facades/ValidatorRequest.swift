import Encoding
import PurchaseModel

/// What cordova-plugin-purchase asks its validator, as far as it decides anything. The rest, such as prices, is what a
/// device says, and is left alone.
///
/// Source: cordova-plugin-purchase 13, `Validator.Request.Body`.
struct ValidatorRequest {
    /// A product's, or the bundle id when all of the app's purchases are meant.
    let id: String
    let type: String?
    /// As the answer names it again: `ios-appstore` or `apple-sk2`.
    let transactionType: String
    let proof: [UInt8]
    /// Who bought. `nil` when nobody is named, and when the name is none that can be recorded.
    let customer: CustomerID?
    let hasUnusableName: Bool

    /// - Throws: a sentence for the app's developer.
    init(_ body: [UInt8]) throws(ValidatorFault) {
        let limits = JSONLimits(bytesMax: body.count, depthMax: 16)
        guard let request = try? JSONDocument(body, limits: limits).root.object else {
            throw ValidatorFault(message: "The body is no JSON object.")
        }
        guard let transaction = request["transaction"]?.object, let type = transaction["type"]?.string else {
            throw ValidatorFault(message: "There is no transaction with a type.")
        }
        let members: [String]
        switch type {
        case "ios-appstore": members = ["appStoreReceipt", "transactionReceipt"]
        case "apple-sk2": members = ["jwsRepresentation"]
        default: throw ValidatorFault(message: "Purchases of \(Self.shown(type)) are not validated here.")
        }
        let given = members.lazy.compactMap { transaction[$0]?.utf8 }.first { !$0.isEmpty }
        guard let given else { throw ValidatorFault(message: "The transaction has no \(members[0]).") }
        proof = Array(given)
        transactionType = type
        self.type = request["type"]?.string
        id = request["id"]?.string ?? transaction["id"]?.string ?? ""
        let name = request["additionalData"]?.object?["applicationUsername"]
        let text = name?.string ?? name?.int64.map(String.init)
        customer = text.flatMap { CustomerID(given: $0) }
        hasUnusableName = customer == nil && text?.isEmpty == false
    }

    /// Whether all is asked about that the app sold, and only the last transaction of it was sent: so StoreKit 2's purchases
    /// are. The plugin puts the answer in the place of the one before, and looks nowhere else for what is owned.
    var isAboutAllByOne: Bool { type == "application" && transactionType == "apple-sk2" }

    /// Whether one subscription is asked about, and not all that the app sold.
    var isAboutSubscription: Bool { type == "paid subscription" }

    private static func shown(_ type: String) -> String {
        type.utf8.count <= 64 && type.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? type : "that store"
    }
}

/// A request that can never be answered otherwise.
struct ValidatorFault: Error {
    let message: String
}
