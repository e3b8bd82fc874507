import Encoding
import HTTP
import PurchaseModel

// Get Current Groups and Get Group. Apple has them in its sandbox only so far, where they answer with fixed numbers;
// in production there is no group.
extension ServerAPI {
    private static let placeholderGroup = "900000000000000000"
    private static let placeholderMember = "700000000000000000"

    func currentGroups(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        _ = try simulator.find { store throws(ServerAPIError) in
            guard store.owner(ofAny: id, for: call) != nil else { throw .transactionNotFound }
        }
        guard call.environment == .sandbox else { throw .groupNotFound }
        return .answer { json in
            json.array("groups") { list in
                list.object { json in
                    json.member("groupId", Self.placeholderGroup)
                    json.member("groupType", "CONSUMER")
                }
            }
        }
    }

    func group(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let group = try MerchantCall.id(call.parameter("group"), else: .invalidGroupID)
        if let limit = try call.query.one("limit", else: .invalidLimit) {
            guard limit.utf8.count <= 3, let number = Int(limit), (1...100).contains(number) else {
                throw .invalidLimit
            }
        }
        let scope = ["group", call.app.bundleID.text, group]
        if let text = try call.query.one("paginationToken", else: .invalidPaginationToken) {
            guard tokens.place(text, scope: scope) != nil else { throw .invalidPaginationToken }
        }
        guard call.environment == .sandbox, group == Self.placeholderGroup else { throw .groupNotFound }
        return .answer { json in
            json.array("members") { list in
                list.object { json in json.member("appTransactionId", Self.placeholderMember) }
            }
            json.member("paginationToken", tokens.text(PageTokens.Place(first: 0), scope: scope))
            json.member("hasMore", false)
        }
    }
}
