import AppleFormats
import PurchaseModel

/// Apple's unsigned answers in our own words: for the operator's eyes, and as a hint of what to ask for. Nothing in
/// them is proved.
enum AnswerTranslation {
    static func claims(of answer: VerifyReceiptResponse) throws(Refusal) -> Claims {
        fatalError()
    }
    static func claims(of notification: NotificationV1) throws(Refusal) -> Claims {
        fatalError()
    }
}
