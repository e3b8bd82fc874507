import AppleFormats
import Encoding
import PurchaseModel

/// App receipts in our own words.
enum ReceiptTranslation {
    static func claims(of receipt: AppReceipt) throws(Refusal) -> Claims {
        let signedAt = try FieldReader.signingMoment(receipt.creationDate, "receipt_creation_date")
        var claims = Claims()
        claims.bundleID = try FieldReader.required(receipt.bundleID, "bundle_id")
        claims.environment = receipt.kind.map(StoreEnvironment.init(apple:))
        claims.appleID = receipt.appAppleID.flatMap { $0 == 0 ? nil : $0 }
        claims.signedAt = signedAt
        claims.transactions.reserveCapacity(receipt.purchases.count)
        var products = ProductNames()
        for purchase in receipt.purchases {
            claims.transactions.append(try transaction(purchase, in: receipt, &products, signedAt: signedAt))
        }
        claims.download = download(of: receipt, claims, signedAt: signedAt)
        return claims
    }

    private static func transaction(
        _ purchase: ReceiptPurchase,
        in receipt: AppReceipt,
        _ products: inout ProductNames,
        signedAt: Timestamp
    ) throws(Refusal) -> Transaction {
        // In one expression, so that it is made where it will lie.
        Transaction(
            id: try transactionID(FieldReader.required(purchase.transactionID, "transaction_id"), receipt),
            originalID: try originalID(purchase.originalTransactionID, receipt),
            product: try products.product(FieldReader.required(purchase.productID, "product_id"), in: receipt),
            kind: purchase.productType.flatMap(kind),
            quantity: try FieldReader.quantity(purchase.quantity),
            purchasedAt: try FieldReader.moment(purchase.purchaseDate, "purchase_date"),
            originallyPurchasedAt: purchase.originalPurchaseDate.map(Timestamp.init(milliseconds:)),
            expiresAt: purchase.expiresDate.map(Timestamp.init(milliseconds:)),
            revocation: purchase.cancellationDate.map { Revocation(at: Timestamp(milliseconds: $0)) },
            offer: offer(of: purchase, in: receipt),
            webOrderLineItem: purchase.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) },
            signedAt: signedAt
        )
    }

    private static func transactionID(
        _ text: ReceiptText,
        _ receipt: AppReceipt,
        _ field: StaticString = "transaction_id"
    ) throws(Refusal) -> TransactionID {
        guard let id = TransactionID(digits: receipt.content.span.extracting(text.range)) else {
            throw Refusal(.transactionIDForm, "\(field) is not a number")
        }
        return id
    }

    private static func originalID(_ text: ReceiptText?, _ receipt: AppReceipt) throws(Refusal) -> TransactionID? {
        guard let text else { return nil }
        return try transactionID(text, receipt, "original_transaction_id")
    }

    /// The numbers of the undocumented attribute 1707, as they were found beside Apple's own answers.
    private static func kind(_ number: Int64) -> ProductKind? {
        switch number {
        case 0: .nonConsumable
        case 1: .consumable
        case 2: .nonRenewing
        case 3: .autoRenewable
        case 4: .freeSubscription
        default: nil
        }
    }

    private static func offer(of purchase: ReceiptPurchase, in receipt: AppReceipt) -> Offer? {
        if let identifier = receipt.string(purchase.promotionalOfferID) {
            return Offer(kind: .promotional, identifier: identifier)
        }
        if purchase.isTrialPeriod == true { return Offer(kind: .introductory, discount: "FREE_TRIAL") }
        return purchase.isInIntroOfferPeriod == true ? Offer(kind: .introductory) : nil
    }

    private static func download(of receipt: AppReceipt, _ claims: Claims, signedAt: Timestamp) -> AppDownload? {
        guard let text = claims.bundleID, let bundleID = BundleID(text) else { return nil }
        var download = AppDownload(bundleID: bundleID, signedAt: signedAt)
        download.environment = claims.environment
        download.appleID = claims.appleID
        download.version = receipt.applicationVersion
        download.originalVersion = receipt.originalApplicationVersion
        download.originallyPurchasedAt = receipt.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        download.receiptKind = receipt.kind
        download.downloadID = receipt.downloadID
        download.buildID = receipt.versionExternalID
        download.expiresAt = receipt.expirationDate.map(Timestamp.init(milliseconds:))
        return download
    }
}

/// The products of one receipt, each made once: hundreds of renewals are of two or three.
private struct ProductNames {
    private var known: [(text: ReceiptText, product: ProductID)] = []
    /// Looked through one by one.
    private static let knownMax = 8

    mutating func product(_ text: ReceiptText, in receipt: AppReceipt) throws(Refusal) -> ProductID {
        let content = receipt.content.span
        let name = content.extracting(text.range)
        for entry in known where ByteSearch.areEqual(content.extracting(entry.text.range), name) {
            return entry.product
        }
        let product = try FieldReader.product(receipt.string(text))
        if known.count < Self.knownMax { known.append((text, product)) }
        return product
    }
}
