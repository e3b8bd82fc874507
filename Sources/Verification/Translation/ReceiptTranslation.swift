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
        claims.transactions = try transactions(of: receipt, signedAt: signedAt)
        claims.download = download(of: receipt, claims, signedAt: signedAt)
        return claims
    }

    /// Each is filled in where it lies: to make it elsewhere and move it took longer than all the rest.
    private static func transactions(of receipt: AppReceipt, signedAt: Timestamp) throws(Refusal) -> [Transaction] {
        guard let first = receipt.purchases.first else { return [] }
        var products = ProductNames()
        let blank = Transaction(
            id: try transactionID(FieldReader.required(first.transactionID, "transaction_id"), receipt),
            originalID: try originalID(first.originalTransactionID, receipt),
            product: try products.product(FieldReader.required(first.productID, "product_id"), in: receipt),
            purchasedAt: signedAt,
            signedAt: signedAt
        )
        var transactions = Array(repeating: blank, count: receipt.purchases.count)
        var places = transactions.mutableSpan
        let purchases = receipt.purchases.span
        for index in purchases.indices {
            try fill(&places[index], purchases[index], in: receipt, &products)
        }
        return transactions
    }

    @inline(__always)
    private static func fill(
        _ transaction: inout Transaction,
        _ purchase: borrowing ReceiptPurchase,
        in receipt: AppReceipt,
        _ products: inout ProductNames
    ) throws(Refusal) {
        transaction.id = try transactionID(FieldReader.required(purchase.transactionID, "transaction_id"), receipt)
        transaction.originalID = try originalID(purchase.originalTransactionID, receipt)
        transaction.product = try products.product(FieldReader.required(purchase.productID, "product_id"), in: receipt)
        transaction.kind = purchase.productType.flatMap(kind)
        transaction.quantity = try FieldReader.quantity(purchase.quantity)
        transaction.purchasedAt = try FieldReader.moment(purchase.purchaseDate, "purchase_date")
        transaction.originallyPurchasedAt = purchase.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        transaction.expiresAt = purchase.expiresDate.map(Timestamp.init(milliseconds:))
        if let cancelled = purchase.cancellationDate {
            transaction.revocation = Revocation(at: Timestamp(milliseconds: cancelled))
        }
        if let offer = offer(of: purchase, in: receipt) { transaction.offer = offer }
        if let number = purchase.webOrderLineItemID, number != 0 { transaction.webOrderLineItem = String(number) }
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
        // Where purchases are written alike the text is often the very one that was seen before.
        for entry in known
        where entry.text == text || ByteSearch.areEqual(content.extracting(entry.text.range), name) {
            return entry.product
        }
        let product = try FieldReader.product(receipt.string(text))
        if known.count < Self.knownMax { known.append((text, product)) }
        return product
    }
}
