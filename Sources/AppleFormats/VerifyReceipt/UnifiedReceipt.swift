/// The part of a version 1 notification that is shaped like verifyReceipt's answer; some answers have it too.
package struct UnifiedReceipt: Hashable, Sendable {
    package let environment: AppleEnvironment?
    package let status: VerifyReceiptStatus?
    /// Base64 of the newest app receipt.
    package let latestReceipt: String?
    /// The newest hundred, without finished consumables; for an iOS 6 receipt one.
    package let latestReceiptInfo: [AnswerTransaction]
    package let pendingRenewalInfo: [AnswerRenewal]
    /// Members that have no field here, as they stand.
    package let others: [RawMember]

    init(_ reader: AnswerReader) throws(FormatFault) {
        var reader = reader
        environment = try reader.text("environment").map(AppleEnvironment.init(rawValue:))
        status = try reader.number("status").map(VerifyReceiptStatus.init(rawValue:))
        latestReceipt = try reader.text("latest_receipt")
        latestReceiptInfo = try AnswerTransaction.list(reader.elementsOrOne("latest_receipt_info"))
        pendingRenewalInfo = try AnswerRenewal.list(reader.elements("pending_renewal_info"))
        others = try reader.others()
    }

    static func optional(_ reader: AnswerReader?) throws(FormatFault) -> UnifiedReceipt? {
        guard let reader else { return nil }
        return try UnifiedReceipt(reader)
    }
}
