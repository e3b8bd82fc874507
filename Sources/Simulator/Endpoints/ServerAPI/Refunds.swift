import Encoding
import HTTP
import PurchaseModel

// Get Refund History, in both versions, and Look Up Order ID.
extension ServerAPI {
    /// The most that the first version answers.
    private static let firstRefundsMax = 50
    /// Longer ones are no order's; Apple's have a dozen letters.
    private static let orderLettersMax = 64

    func refunds(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let revision = try call.query.one("revision", else: .invalidRequestRevision)
        let page = try simulator.find { store throws(ServerAPIError) in
            guard let owner = store.owner(ofAny: id, for: call) else { throw .transactionNotFound }
            let scope = ["refunds", owner.app.text, owner.customer]
            let place = try self.place(revision, scope)
            let found = Self.refunded(store.transactions(of: owner)).drop { sold in
                guard let place else { return false }
                return Self.order(sold) <= (place.first, place.second)
            }
            return self.page(found, revision, scope) { sold in
                PageTokens.Place(first: Self.order(sold).0, second: Self.order(sold).1)
            }
        }
        let texts = try sign(page.transactions, call)
        return .answer { json in
            json.member("hasMore", page.hasMore)
            json.member("revision", page.revision)
            json.texts("signedTransactions", texts)
        }
    }

    func firstRefunds(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id(else: .invalidOriginalTransactionID)
        let found = try simulator.find { store throws(ServerAPIError) in
            guard let sold = store.transaction(id, for: call), sold.originalID == sold.id,
                let owner = store.owner(ofAny: id, for: call)
            else { throw .originalTransactionNotFound }
            return Self.refunded(store.transactions(of: owner))
        }
        let texts = try sign(Array(found.suffix(Self.firstRefundsMax)), call)
        return .answer { json in json.texts("signedTransactions", texts) }
    }

    /// There are orders in production only.
    func lookUpOrder(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let order = call.parameter("order")
        guard order.utf8.count <= Self.orderLettersMax, order.utf8.allSatisfy(Self.isLetterOrDigit) else {
            throw .generalBadRequest
        }
        let found = simulator.read { store in
            store.transactions(ofOrder: order).filter {
                $0.app == call.app.bundleID && $0.environment == call.environment && $0.environment == .production
            }
        }
        guard !found.isEmpty else { return .answer { json in json.member("status", 1) } }
        let texts = try sign(found, call)
        return .answer { json in
            json.member("status", 0)
            json.texts("signedTransactions", texts)
        }
    }

    /// A member's copy that went away was never paid, so it was not refunded.
    private static func refunded(_ sold: [SoldTransaction]) -> [SoldTransaction] {
        sold.filter { $0.isRevoked && $0.purchasedBy == nil }.sorted { order($0) < order($1) }
    }

    /// By the moment of the refund; several at one moment in the order in which they happened.
    private static func order(_ sold: SoldTransaction) -> (Int64, Int64) {
        (sold.fact.revocation?.at.milliseconds ?? 0, sold.changeNumber)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
