import PurchaseModel

/// Makes numbers and ids that look like Apple's; the same ones for the same seed.
struct StoreNumbers: Sendable {
    private var random: UInt64
    private var transactions: Int64 = 0
    private var lineItems: Int64 = 0
    private var orders: UInt64 = 0

    init(seed: UInt64) {
        random = seed
        // Stores of other seeds sell under other numbers: a ledger outlives a store, and must not take one's sale for
        // another's.
        transactions = Int64(next() % 1_000_000_000) * 1_000
        lineItems = transactions
        orders = UInt64(transactions)
    }

    /// SplitMix64 (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014). Not for secrets.
    mutating func next() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Of 16 digits in sandbox, of 15 in production; never the same twice, in either.
    mutating func transactionID(in environment: StoreEnvironment) -> TransactionID {
        transactions += 1 + Int64(next() % 97)
        let start: Int64 = environment == .production ? 340_000_000_000_000 : 2_000_000_000_000_000
        guard let id = TransactionID(number: start + transactions) else { preconditionFailure("the store is sold out") }
        return id
    }

    mutating func webOrderLineItem(in environment: StoreEnvironment) -> String {
        lineItems += 1 + Int64(next() % 97)
        return String((environment == .production ? 340_000_100_000_000 : 2_000_000_070_000_000) + lineItems)
    }

    /// 18 digits.
    mutating func appTransactionID() -> String {
        String(704_000_000_000_000_000 + Int64(next() % 999_999_999_999_999))
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
            high: (next() & ~0xF000) | 0x4000,
            low: (next() & ~(0xC000 << 48)) | (0x8000 << 48)
        ).description
    }
}
