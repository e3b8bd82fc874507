import AppleFormats
import PurchaseModel

/// The kinds of proof there are: an envelope that has been opened once, its content unread and nothing in it trusted.
///
/// What is larger than a token lies apart: the most frequent kind is not to be carried in the room of the largest.
enum Evidence {
    case appReceipt(SignedData)
    indirect case transactionReceipt(PlistReceipt)
    case jws(CompactJWS)
    indirect case verifyReceiptResponse(VerifyReceiptResponse)
    indirect case notificationV1(NotificationV1)
    case transactionID(TransactionID)
}
