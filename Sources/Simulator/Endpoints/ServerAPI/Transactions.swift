import Encoding
import HTTP
import PurchaseModel

// Get Transaction Info, Get App Transaction Info, Set App Account Token, Finish Transaction.
extension ServerAPI {
    func transaction(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let sold = try simulator.find { store throws(ServerAPIError) in try store.purchase(id, for: call) }
        let texts = try sign([sold], call)
        return .answer { json in json.member("signedTransactionInfo", texts.first) }
    }

    func appTransaction(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let payload = try simulator.find { store throws(ServerAPIError) in
            guard let owner = store.owner(ofAny: id, for: call) else { throw .transactionNotFound }
            guard let download = store.customers[owner.customer]?.downloads[owner.app] else {
                throw .appTransactionDoesNotExist
            }
            return Payload.appTransaction(download, of: call.app, in: call.environment, signedAt: store.now)
        }
        let text = try sign(payload)
        return .answer { json in json.member("signedAppTransactionInfo", text) }
    }

    func setAccountToken(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        guard let token = try call.body().given("appAccountToken")?.string.flatMap(AccountToken.init) else {
            throw .invalidAppAccountTokenUUID
        }
        try simulator.change { store throws(ServerAPIError) in
            guard let sold = store.transaction(id, for: call) else { throw .transactionNotFound }
            do throws(ActRefusal) {
                _ = try store.perform(.setAccountToken(sold.id, token))
            } catch {
                switch error {
                case .familyShared: throw .familyTransactionNotSupported
                case .notOriginal: throw .notOriginalTransactionID
                default: throw .transactionNotFound
                }
            }
        }
        return HTTPResponse(.ok)
    }

    /// Again is as good as once.
    func finish(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        try simulator.change { store throws(ServerAPIError) in
            let sold = try store.purchase(id, for: call)
            do throws(ActRefusal) {
                _ = try store.perform(.finish(sold.id))
            } catch {
                throw .transactionNotFound
            }
        }
        return HTTPResponse(.ok)
    }
}
