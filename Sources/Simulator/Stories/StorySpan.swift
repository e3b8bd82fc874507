import PurchaseModel

/// A distance in time as ISO 8601 writes it: `P3D`, `P1M2DT3H`, `PT90S`.
struct StorySpan: Hashable, Sendable {
    private var months = 0
    private var seconds: Int64 = 0

    /// `nil` for anything else; fractions and signs are not taken.
    init?(_ text: String) {
        var letters = Array(text.utf8)[...]
        guard letters.popFirst() == UInt8(ascii: "P"), !letters.isEmpty else { return nil }
        var isTime = false
        var number: Int64?
        var rank = 0
        for letter in letters {
            switch letter {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let next = (number ?? 0) * 10 + Int64(letter - 0x30)
                guard next < 1_000_000 else { return nil }
                number = next
            case UInt8(ascii: "T"):
                guard !isTime, number == nil else { return nil }
                isTime = true
            default:
                guard let count = number, let place = add(count, letter, isTime), place > rank else { return nil }
                rank = place
                number = nil
            }
        }
        // A text must not end in the middle, and "P" and "PT" are no distances.
        guard number == nil, rank > 0, letters.last != UInt8(ascii: "T") else { return nil }
    }

    /// The moment that lies so much later; `nil` beyond the end of the store's time.
    func after(_ start: Timestamp) -> Timestamp? {
        let month = BillingPeriod(1, .month).end(from: start, times: months)
        guard months == 0 || month > start else { return nil }
        let moment = month.advanced(by: .seconds(seconds))
        return StoreTime.range.contains(moment) ? moment : nil
    }

    /// - Returns: the unit's place in the order in which units must stand.
    private mutating func add(_ count: Int64, _ unit: UInt8, _ isTime: Bool) -> Int? {
        switch (unit, isTime) {
        case (UInt8(ascii: "Y"), false):
            months += Int(count) * 12
            return 1
        case (UInt8(ascii: "M"), false):
            months += Int(count)
            return 2
        case (UInt8(ascii: "W"), false):
            seconds += count * 7 * 86_400
            return 3
        case (UInt8(ascii: "D"), false):
            seconds += count * 86_400
            return 4
        case (UInt8(ascii: "H"), true):
            seconds += count * 3_600
            return 5
        case (UInt8(ascii: "M"), true):
            seconds += count * 60
            return 6
        case (UInt8(ascii: "S"), true):
            seconds += count
            return 7
        default: return nil
        }
    }
}
