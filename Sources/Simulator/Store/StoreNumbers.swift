import PurchaseModel

/// Makes numbers and ids that look like Apple's; the same ones for the same seed.
struct StoreNumbers: Sendable {
    private var random: SplitMix64
    private var transactions: Int64 = 0
    private var lineItems: Int64 = 0
    private var orders: UInt64 = 0

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        // Stores of other seeds sell under other numbers: a ledger outlives a store, and must not take one's sale for
        // another's.
        transactions = Int64(random.next() % 1_000_000_000) * 1_000
        lineItems = transactions
        orders = UInt64(transactions)
    }

    /// Of 16 digits in sandbox, of 15 in production; never the same twice, in either.
    mutating func transactionID(in environment: StoreEnvironment) -> TransactionID {
        transactions += 1 + Int64(random.next() % 97)
        let start: Int64 = environment == .production ? 340_000_000_000_000 : 2_000_000_000_000_000
        guard let id = TransactionID(number: start + transactions) else { preconditionFailure("the store is sold out") }
        return id
    }

    mutating func webOrderLineItem(in environment: StoreEnvironment) -> String {
        lineItems += 1 + Int64(random.next() % 97)
        return String((environment == .production ? 340_000_100_000_000 : 2_000_000_070_000_000) + lineItems)
    }

    /// 18 digits.
    mutating func appTransactionID() -> String {
        String(704_000_000_000_000_000 + Int64(random.next() % 999_999_999_999_999))
    }

    /// `M` and ten letters and digits.
    mutating func orderID() -> String {
        orders += 1
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        // A counter spread over all its digits, so that no order has the number of another.
        var rest = (orders &* 0x2545_F491_4F6C_DD1D) >> 14
        var text: [UInt8] = [UInt8(ascii: "M")]
        for _ in 0..<10 {
            text.append(letters[Int(rest % 32)])
            rest /= 32
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Version 4, in lower case.
    mutating func uuid() -> String {
        AccountToken(
            high: (random.next() & ~0xF000) | 0x4000,
            low: (random.next() & ~(0xC000 << 48)) | (0x8000 << 48)
        ).description
    }
}
