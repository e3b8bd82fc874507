import AppleFormats
import PurchaseModel

/// The kinds of proof there are: an envelope that has been opened once, its content unread and nothing in it trusted.
enum Evidence {
    case appReceipt(SignedData)
    case transactionReceipt(PlistReceipt)
    case jws(CompactJWS)
    case verifyReceiptResponse(VerifyReceiptResponse)
    case notificationV1(NotificationV1)
    case transactionID(TransactionID)
}
