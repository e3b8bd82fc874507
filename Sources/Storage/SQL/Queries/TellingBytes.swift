import PurchaseModel

/// How much a statement on a renewal tells, as bytes in its row, which has none for one that tells all.
///
/// Parts with a zero byte between them, which no text has. The first is `1`, the number of this form. If a full statement
/// stands beside the row's, its fields follow, each behind a `+`; an empty part is a field that there is none of.
enum TellingBytes {
    private static let form = "1"
    private static let counts = (numbers: 14, texts: 11)

    static func bytes(of telling: Renewal.Telling) -> [UInt8]? {
        guard case .less(let full) = telling else { return nil }
        var parts = [form]
        if let full {
            parts += numbers(of: full).map { $0.map { "+\($0)" } ?? "" }
            parts += texts(of: full).map { $0.map { "+\($0)" } ?? "" }
        }
        return Array(parts.joined(separator: "\0").utf8)
    }

    /// Reads what stands in the row of a subscription; bytes that we did not write are an unreadable row.
    static func telling(_ bytes: [UInt8]?, of original: TransactionID) throws(StoreFailure) -> Renewal.Telling {
        guard let bytes else { return .all }
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard let first = parts.first, first.elementsEqual(form.utf8) else { throw SQLiteResult.unreadableRow }
        if parts.count == 1 { return .less(than: nil) }
        guard parts.count == 1 + counts.numbers + counts.texts else { throw SQLiteResult.unreadableRow }
        let fields: [String?] = parts.dropFirst().map { part in
            part.isEmpty ? nil : String(decoding: part.dropFirst(), as: UTF8.self)
        }
        var numbers: [Int64?] = []
        for field in fields.prefix(counts.numbers) {
            let number = field.flatMap { Int64($0) }
            guard (field == nil) == (number == nil) else { throw SQLiteResult.unreadableRow }
            numbers.append(number)
        }
        return .less(than: try renewal(numbers, Array(fields.dropFirst(counts.numbers)), of: original))
    }

    private static func numbers(of renewal: Renewal) -> [Int64?] {
        [
            renewal.signedAt.milliseconds, flag(renewal.willAutoRenew), renewal.expirationIntent.map { Int64($0) },
            flag(renewal.isInBillingRetry), renewal.graceEndsAt?.milliseconds, renewal.renewsAt?.milliseconds,
            renewal.recentStartAt?.milliseconds, renewal.nextPrice?.milliunits,
            renewal.priceIncreaseStatus.map { Int64($0) }, (renewal.offer?.kind.rawValue).map { Int64($0) },
            flag(renewal.nextCommitment?.willRenew), renewal.nextCommitment?.beginsAt?.milliseconds,
            (renewal.accountToken?.high).map { Int64(bitPattern: $0) },
            (renewal.accountToken?.low).map { Int64(bitPattern: $0) },
        ]
    }

    private static func texts(of renewal: Renewal) -> [String?] {
        [
            renewal.product.text, renewal.nextProduct?.text, renewal.environment?.rawValue, renewal.nextPrice?.currency,
            renewal.offer?.identifier, renewal.offer?.discount, renewal.offer?.period, renewal.nextBillingPlan,
            renewal.nextCommitment?.product?.text, renewal.nextCommitment?.billingPlan,
            renewal.winBackOffers.isEmpty ? nil : renewal.winBackOffers.joined(separator: "\n"),
        ]
    }

    private static func renewal(
        _ numbers: [Int64?],
        _ texts: [String?],
        of original: TransactionID
    ) throws(StoreFailure) -> Renewal {
        guard let moment = numbers[0].map(Timestamp.init(milliseconds:)), let product = try identifier(texts[0]) else {
            throw SQLiteResult.unreadableRow
        }
        var renewal = Renewal(originalID: original, product: product, signedAt: moment)
        renewal.willAutoRenew = numbers[1].map { $0 != 0 }
        renewal.expirationIntent = numbers[2].map { Int($0) }
        renewal.isInBillingRetry = numbers[3].map { $0 != 0 }
        renewal.graceEndsAt = numbers[4].map(Timestamp.init(milliseconds:))
        renewal.renewsAt = numbers[5].map(Timestamp.init(milliseconds:))
        renewal.recentStartAt = numbers[6].map(Timestamp.init(milliseconds:))
        if let milliunits = numbers[7], let currency = texts[3] {
            renewal.nextPrice = Price(milliunits: milliunits, currency: currency)
        }
        renewal.priceIncreaseStatus = numbers[8].map { Int($0) }
        renewal.offer = numbers[9].map { kind in
            Offer(
                kind: OfferKind(rawValue: Int(kind)),
                identifier: texts[4],
                discount: texts[5],
                period: texts[6]
            )
        }
        if let high = numbers[12], let low = numbers[13] {
            renewal.accountToken = AccountToken(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
        }
        renewal.nextProduct = try identifier(texts[1])
        renewal.environment = texts[2].map(StoreEnvironment.init(rawValue:))
        renewal.nextBillingPlan = texts[7]
        var next = NextCommitment()
        next.willRenew = numbers[10].map { $0 != 0 }
        next.beginsAt = numbers[11].map(Timestamp.init(milliseconds:))
        next.product = try identifier(texts[8])
        next.billingPlan = texts[9]
        renewal.nextCommitment = next == NextCommitment() ? nil : next
        let offers = texts[10]?.utf8.split(separator: UInt8(ascii: "\n")) ?? []
        renewal.winBackOffers = offers.map { String(decoding: $0, as: UTF8.self) }
        return renewal
    }

    private static func identifier(_ text: String?) throws(StoreFailure) -> ProductID? {
        guard let text else { return nil }
        guard let product = ProductID(text) else { throw SQLiteResult.unreadableRow }
        return product
    }

    private static func flag(_ value: Bool?) -> Int64? { value.map { $0 ? 1 : 0 } }
}
