package import Encoding

/// Get Transaction Info, and what Advanced Commerce answers.
package struct SignedTransactionAnswer: ServerAnswerModel {
    package let signedTransactionInfo: String
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        signedTransactionInfo = try reader.required("signedTransactionInfo")
        others = try reader.others()
    }
}

/// Get App Transaction Info.
package struct SignedAppTransactionAnswer: ServerAnswerModel {
    package let signedAppTransactionInfo: String
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        signedAppTransactionInfo = try reader.required("signedAppTransactionInfo")
        others = try reader.others()
    }
}

/// Get All Subscription Statuses.
package struct StatusesAnswer: ServerAnswerModel {
    package struct Group: Hashable, Sendable {
        package let identifier: String?
        package let lastTransactions: [LastTransaction]
        package let others: [RawMember]
    }

    /// The newest of one line of renewals.
    package struct LastTransaction: Hashable, Sendable {
        package let originalTransactionID: String?
        package let status: AppleSubscriptionStatus?
        package let signedTransactionInfo: String
        package let signedRenewalInfo: String
        package let others: [RawMember]

        fileprivate init(_ reader: inout AnswerReader) throws(FormatFault) {
            originalTransactionID = try reader.text("originalTransactionId")
            status = try reader.number("status").map(AppleSubscriptionStatus.init(rawValue:))
            signedTransactionInfo = try reader.required("signedTransactionInfo")
            signedRenewalInfo = try reader.required("signedRenewalInfo")
            others = try reader.others()
        }
    }

    package let environment: AppleEnvironment?
    package let bundleID: String?
    /// Production only.
    package let appAppleID: Int64?
    package let groups: [Group]
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        environment = try reader.text("environment").map(AppleEnvironment.init(rawValue:))
        bundleID = try reader.text("bundleId")
        appAppleID = try reader.number("appAppleId")
        groups = try reader.list("data") { reader throws(FormatFault) in
            Group(
                identifier: try reader.text("subscriptionGroupIdentifier"),
                lastTransactions: try reader.list("lastTransactions") { reader throws(FormatFault) in
                    try LastTransaction(&reader)
                },
                others: try reader.others()
            )
        }
        others = try reader.others()
    }
}

/// One page of Get Transaction History or Get Refund History.
package struct HistoryAnswer: ServerAnswerModel {
    /// Where the next page begins, and where news will.
    package let revision: String?
    package let hasMore: Bool
    package let environment: AppleEnvironment?
    package let bundleID: String?
    package let appAppleID: Int64?
    package let signedTransactions: [String]
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        revision = try reader.text("revision")
        hasMore = try reader.flag("hasMore") ?? false
        environment = try reader.text("environment").map(AppleEnvironment.init(rawValue:))
        bundleID = try reader.text("bundleId")
        appAppleID = try reader.number("appAppleId")
        signedTransactions = try reader.texts("signedTransactions")
        others = try reader.others()
    }
}

/// Look Up Order ID.
package struct OrderAnswer: ServerAnswerModel {
    /// 0 for an order of this app, 1 for anything else.
    package let status: Int64
    package let signedTransactions: [String]
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        guard let number = try reader.number("status") else { throw .missing(field: "status") }
        status = number
        signedTransactions = try reader.texts("signedTransactions")
        others = try reader.others()
    }
}
