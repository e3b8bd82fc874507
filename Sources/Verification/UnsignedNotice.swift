import AppleFormats
import Crypto
import Encoding
package import PurchaseModel

/// A version 1 notification. It is not signed: only the app's shared secret tells that Apple sent it, and nothing in it
/// becomes a fact but the receipt that it carries, which is verified like any other.
///
/// Source: Apple, *responseBodyV1*.
package struct UnsignedNotice: Sendable {
    /// Apple's word, such as `DID_RENEW`; unknown ones are kept.
    package let type: String
    package let bundleID: String?
    package let environment: StoreEnvironment?
    package let original: TransactionID?
    /// The customer's, to ask Apple by any of them; at most eight, and no proof of anything.
    package let transactions: [TransactionID]
    /// The subscriptions that it is about, by their originals; at most eight, and no proof of anything.
    package let subscriptions: [TransactionID]
    /// The newest app receipt, in base64.
    package let receipt: [UInt8]?
    private let password: [UInt8]

    /// One is named, or else those whose renewal is pending: one for each group of the app's.
    private static let subscriptionsMax = 8
    /// One of them is enough, if it is known.
    private static let numbersMax = 8

    /// `nil` for what is none: the bytes are another format, or lack what every one has.
    package init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument.ofApple(bytes), let notice = try? NotificationV1(document),
            let type = notice.notificationType
        else { return nil }
        self.type = type
        password = Array((notice.password ?? "").utf8)
        bundleID = notice.bundleID
        let unified = notice.unifiedReceipt
        let word = unified?.environment?.rawValue ?? notice.environment
        environment = word.map { StoreEnvironment(apple: $0) }
        original = notice.originalTransactionID.flatMap { TransactionID($0) }
        let listed = (unified?.latestReceiptInfo ?? []).prefix(Self.numbersMax).compactMap(\.transactionID)
        let numbers = [original].compactMap(\.self) + listed.compactMap { TransactionID($0) }
        transactions = Array(numbers.prefix(Self.numbersMax))
        // Its own words on the renewal are of the one that it is about; the answer's, of all that the customer has.
        let listedOriginal = unified?.latestReceiptInfo.compactMap(\.originalTransactionID).first
        let pending = unified?.pendingRenewalInfo.compactMap(\.originalTransactionID) ?? []
        let named = original.map { [$0] } ?? pending.compactMap { TransactionID($0) }
        let about = named.isEmpty ? [listedOriginal.flatMap { TransactionID($0) }].compactMap(\.self) : named
        subscriptions = Array(about.prefix(Self.subscriptionsMax))
        receipt = (unified?.latestReceipt ?? notice.latestReceipt).map { Array($0.utf8) }
    }

    /// Whether its sender knows the app's shared secret. Takes the same time for every wrong one.
    package func isSent(with secret: [UInt8]) -> Bool {
        !secret.isEmpty && MessageAuthentication.areEqual(password, secret)
    }
}
