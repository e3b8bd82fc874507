import PurchaseModel

/// An account token as 16 bytes, big-endian, as in the UUID's text.
enum TokenBytes {
    static func bytes(of token: AccountToken) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for place in 0..<16 {
            let half = place < 8 ? token.high : token.low
            bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(56 - place % 8 * 8)))
        }
        return bytes
    }

    static func token(_ bytes: [UInt8]) throws(StoreFailure) -> AccountToken {
        guard bytes.count == 16 else { throw SQLiteResult.unreadableRow }
        let half = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return AccountToken(high: half(bytes.prefix(8)), low: half(bytes.suffix(8)))
    }
}
