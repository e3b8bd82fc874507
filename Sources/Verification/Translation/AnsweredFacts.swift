import AppleFormats
import PurchaseModel

/// What Apple's server said of a receipt, in our own words.
struct AnsweredFacts {
    var claims = Claims()
    /// One for each subscription.
    var renewals: [Renewal] = []
    /// Entries that could not be read as a transaction.
    var unread = 0

    /// Two moments count, and they are not the same. What Apple looked up now (`latest_receipt_info`, the renewals) is
    /// as of `moment`. What it only decoded (`in_app`, an iOS 6 `receipt`) is as of the making of the receipt, however
    /// long ago that was: dated later, an old receipt would undo a refund that was heard of since.
    ///
    /// - Parameters:
    ///   - answer: what the server said.
    ///   - moment: when it looked.
    init(_ answer: VerifyReceiptResponse, at moment: Timestamp) {
        claims.signedAt = moment
        let newest =
            answer.latestReceiptInfo + (answer.unifiedReceipt?.latestReceiptInfo ?? [])
            + (answer.latestExpiredReceiptInfo.map { [$0] } ?? [])
        var seen: [TransactionID: Int] = [:]
        add(newest, &seen) { _ in moment }
        switch answer.receipt {
        case .app(let receipt):
            claims.bundleID = receipt.bundleID
            claims.environment = receipt.receiptType.map { StoreEnvironment(apple: $0) }
            claims.appleID = receipt.appItemID.flatMap { $0 == 0 ? nil : $0 }
            add(receipt.inApp, &seen) { entry in
                AnsweredFacts.moment(of: entry, madeAt: receipt.receiptCreationDate, notAfter: moment)
            }
        case .transaction(let entry):
            claims.bundleID = entry.bundleID
            claims.appleID = entry.appItemID.flatMap { Int64($0) }.flatMap { $0 == 0 ? nil : $0 }
            add([entry], &seen) { AnsweredFacts.moment(of: $0, madeAt: $0.purchaseDate, notAfter: moment) }
        case nil: break
        }
        if let environment = answer.environment ?? answer.unifiedReceipt?.environment {
            claims.environment = StoreEnvironment(apple: environment.rawValue)
        }
        addRenewals(of: answer, newest, at: moment)
    }

    /// A copy cannot be from before what it tells: Apple adds a refund to what it decodes.
    private static func moment(
        of entry: AnswerTransaction,
        madeAt milliseconds: Int64?,
        notAfter moment: Timestamp
    ) -> Timestamp {
        let made = milliseconds ?? entry.purchaseDate ?? moment.milliseconds
        return min(Timestamp(milliseconds: max(made, entry.cancellationDate ?? made)), moment)
    }

    /// Each number once, as it stands first; of two told at the same moment, the one that tells more.
    private mutating func add(
        _ entries: [AnswerTransaction],
        _ seen: inout [TransactionID: Int],
        toldAt: (AnswerTransaction) -> Timestamp
    ) {
        for entry in entries {
            guard let transaction = entry.transaction(toldAt: toldAt(entry)) else {
                unread += 1
                continue
            }
            if let place = seen[transaction.id] {
                let other = claims.transactions[place]
                guard transaction.signedAt == other.signedAt, transaction.tells(more: other) else { continue }
                claims.transactions[place] = transaction
            } else {
                seen[transaction.id] = claims.transactions.count
                claims.transactions.append(transaction)
            }
        }
    }

    private mutating func addRenewals(
        of answer: VerifyReceiptResponse,
        _ newest: [AnswerTransaction],
        at moment: Timestamp
    ) {
        var entries = answer.pendingRenewalInfo + (answer.unifiedReceipt?.pendingRenewalInfo ?? [])
        if entries.isEmpty, let renewal = answer.renewal { entries = [renewal] }
        // Several for one subscription have been seen: the one counts whose product lasts longest.
        var chosen: [TransactionID: (renewal: Renewal, expiresAt: Int64)] = [:]
        var order: [TransactionID] = []
        for entry in entries {
            guard let (renewal, expiresAt) = AnsweredFacts.renewal(entry, newest, at: moment) else { continue }
            if let other = chosen[renewal.originalID] {
                guard expiresAt > other.expiresAt else { continue }
            } else {
                order.append(renewal.originalID)
            }
            chosen[renewal.originalID] = (renewal, expiresAt)
        }
        for var renewal in order.compactMap({ chosen[$0]?.renewal }) {
            renewal.environment = claims.environment
            renewals.append(renewal)
        }
    }

    /// Older answers name neither the subscription nor its product: then it is that of the newest transaction.
    private static func renewal(
        _ entry: AnswerRenewal,
        _ newest: [AnswerTransaction],
        at moment: Timestamp
    ) -> (renewal: Renewal, expiresAt: Int64)? {
        let own = newest.filter { transaction in
            (entry.productID.map { $0 == transaction.productID } ?? true)
                && (entry.originalTransactionID.map { $0 == transaction.originalTransactionID } ?? true)
        }
        let last = own.max { ($0.expiresDate ?? 0) < ($1.expiresDate ?? 0) }
        guard
            let id = (entry.originalTransactionID ?? last?.originalTransactionID).flatMap({ TransactionID($0) }),
            let product = (entry.productID ?? last?.productID).flatMap({ ProductID($0) })
        else { return nil }
        var renewal = Renewal(originalID: id, product: product, signedAt: moment)
        renewal.telling = .less(than: nil)
        renewal.nextProduct = entry.autoRenewProductID.flatMap { ProductID($0) }
        renewal.willAutoRenew = entry.willAutoRenew
        renewal.expirationIntent = entry.expirationIntent.map { Int($0.rawValue) }
        renewal.isInBillingRetry = entry.isInBillingRetryPeriod
        renewal.graceEndsAt = entry.gracePeriodExpiresDate.map(Timestamp.init(milliseconds:))
        renewal.priceIncreaseStatus = (entry.priceConsentStatus ?? entry.priceIncreaseStatus).map(Int.init)
        if let offer = entry.promotionalOfferID {
            renewal.offer = Offer(kind: .promotional, identifier: offer)
        } else if let name = entry.offerCodeRefName {
            renewal.offer = Offer(kind: .offerCode, identifier: name)
        }
        return (renewal, last?.expiresDate ?? 0)
    }
}

extension Transaction {
    /// A refund counts before everything, and an end before none.
    fileprivate func tells(more other: Transaction) -> Bool {
        let refunds = (revocation != nil, other.revocation != nil)
        guard refunds.0 == refunds.1 else { return refunds.0 }
        return expiresAt != nil && other.expiresAt == nil
    }
}
