#if canImport(StoreKit)
public import StoreKit

/// StoreKit's transactions as the client takes them. Nothing is decided here.
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
public enum StoreKitFeed {
    /// What StoreKit tells, and what it has that is not finished.
    public static let source = PurchaseSource(
        listen: { take in
            for await result in Transaction.updates { await take(StorePurchase(result)) }
        },
        unfinished: {
            var purchases: [StorePurchase] = []
            for await result in Transaction.unfinished { purchases.append(StorePurchase(result)) }
            return purchases
        }
    )
}

@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
extension StorePurchase {
    /// What `Product.purchase()` has led to. Whether StoreKit could check the signature on this device does not matter: the
    /// server checks it.
    public init(_ result: VerificationResult<Transaction>) {
        let transaction =
            switch result {
            case .verified(let transaction), .unverified(let transaction, _): transaction
            }
        self.init(
            id: String(transaction.id),
            proof: result.jwsRepresentation,
            accountToken: transaction.appAccountToken,
            finish: { await transaction.finish() }
        )
    }
}
#endif
