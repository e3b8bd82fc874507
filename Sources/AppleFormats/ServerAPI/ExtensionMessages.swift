package import Encoding

/// By how much, and why, a renewal is put off.
package struct RenewalExtension: Hashable, Sendable {
    /// 1 to 90.
    package var days: Int
    package var reason: AppleExtendReason
    /// For one subscription up to 128 characters, for all a UUID: sent again, it does nothing twice.
    package var requestIdentifier: String

    package init(days: Int, reason: AppleExtendReason, requestIdentifier: String) {
        self.days = days
        self.reason = reason
        self.requestIdentifier = requestIdentifier
    }

    /// For Extend a Subscription Renewal Date.
    package var json: [UInt8] { JSONWriter.object { write(into: &$0) } }

    /// For all active subscribers of a product.
    ///
    /// - Parameters:
    ///   - product: whose subscribers.
    ///   - storefronts: ISO 3166-1 alpha-3; `nil` for all. Apple refuses an empty list.
    /// - Returns: the body.
    package func json(product: String, storefronts: [String]?) -> [UInt8] {
        JSONWriter.object { body in
            write(into: &body)
            body.member("productId", product)
            body.texts("storefrontCountryCodes", storefronts)
        }
    }

    private func write(into body: inout JSONObjectWriter) {
        body.member("extendByDays", days)
        body.member("extendReasonCode", reason.rawValue)
        body.member("requestIdentifier", requestIdentifier)
    }
}

/// Why a renewal is put off.
package struct AppleExtendReason: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let undeclared = AppleExtendReason(rawValue: 0)
    package static let customerSatisfaction = AppleExtendReason(rawValue: 1)
    package static let other = AppleExtendReason(rawValue: 2)
    package static let serviceIssue = AppleExtendReason(rawValue: 3)
}

/// Extend a Subscription Renewal Date. It may fail with HTTP 200.
package struct ExtensionAnswer: ServerAnswerModel {
    package let originalTransactionID: String?
    package let webOrderLineItemID: String?
    package let success: Bool
    /// The new end, milliseconds since 1970.
    package let effectiveDate: Int64?
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        originalTransactionID = try reader.text("originalTransactionId")
        webOrderLineItemID = try reader.text("webOrderLineItemId")
        guard let flag = try reader.flag("success") else { throw .missing(field: "success") }
        success = flag
        effectiveDate = try reader.number("effectiveDate")
        others = try reader.others()
    }
}

/// Extend Subscription Renewal Dates for All Active Subscribers, and how that went.
package struct MassExtensionAnswer: ServerAnswerModel {
    package let requestIdentifier: String
    /// Absent from the first answer: it takes hours to days.
    package let isComplete: Bool?
    package let completeDate: Int64?
    package let succeededCount: Int64?
    package let failedCount: Int64?
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        requestIdentifier = try reader.required("requestIdentifier")
        isComplete = try reader.flag("complete")
        completeDate = try reader.number("completeDate")
        succeededCount = try reader.number("succeededCount")
        failedCount = try reader.number("failedCount")
        others = try reader.others()
    }
}
