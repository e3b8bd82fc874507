import Crypto
import Encoding
import HTTP
import PurchaseModel

// What many endpoints share: whose an id is, and signing what was found.
extension SimulatedStore {
    /// The customer of any id, in the caller's app and environment: on the other side of a wall nobody is known.
    func owner(ofAny id: String, for call: MerchantCall) -> Owner? {
        guard let owner = owner(ofAny: id), owner.app == call.app.bundleID,
            customers[owner.customer]?.environment == call.environment
        else { return nil }
        return owner
    }

    /// The transaction itself, in the caller's app and environment.
    func transaction(_ id: String, for call: MerchantCall) -> SoldTransaction? {
        guard let sold = TransactionID(id).flatMap({ transactions[$0] }), sold.app == call.app.bundleID,
            sold.environment == call.environment
        else { return nil }
        return sold
    }

    /// The transaction that an endpoint for one purchase speaks of.
    func purchase(_ id: String, for call: MerchantCall) throws(ServerAPIError) -> SoldTransaction {
        if let sold = transaction(id, for: call) { return sold }
        throw owner(ofAny: id, for: call) == nil ? .transactionNotFound : .appTransactionNotSupported
    }
}

extension AppStoreSimulator {
    /// Looks at the store, and may find nothing to answer.
    func find<Value: Sendable>(
        _ body: (SimulatedStore) throws(ServerAPIError) -> Value
    ) throws(ServerAPIError) -> Value {
        let result = read { store in Result { () throws(ServerAPIError) in try body(store) } }
        return try result.get()
    }
}

extension ServerAPI {
    /// Texts of transactions, each signed now.
    func sign(_ sold: [SoldTransaction], _ call: MerchantCall) throws(ServerAPIError) -> [String] {
        let now = simulator.now
        var texts: [String] = []
        texts.reserveCapacity(sold.count)
        for transaction in sold {
            do throws(CryptoError) {
                texts.append(try signer.transaction(transaction, of: call.app, at: now))
            } catch {
                throw .generalInternal
            }
        }
        return texts
    }

    func sign(_ payload: Payload) throws(ServerAPIError) -> String {
        do throws(CryptoError) {
            return try signer.sign(payload)
        } catch {
            throw .generalInternal
        }
    }
}

extension JSONObjectWriter {
    mutating func texts(_ name: String, _ texts: [String]) {
        array(name) { list in
            for text in texts { list.element(text) }
        }
    }
}
