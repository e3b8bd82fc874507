import Pipeline
import PurchaseModel
import TestSupport

extension CheckedShop {
    /// One of all things that can happen, some of which are refused.
    mutating func act(_ random: inout SeededRandom) async throws {
        let customer = ["ann", "bob", "eve"].randomElement(using: &random) ?? "ann"
        let order = "o-\(Int.random(in: 1...6, using: &random))"
        let number = Int64.random(in: 1...12, using: &random)
        let product = ["coins", "lamp", "monthly"][Int(number % 3)]
        now = now.advanced(by: .seconds(Int64.random(in: 0...100_000, using: &random)))
        switch Int.random(in: 0...11, using: &random) {
        case 0, 1: try await place(order, product, for: customer)
        case 2: try await cancel(order)
        case 3: try await expire()
        case 4: try await attach(number, to: order)
        case 5: try await transfer(number, to: customer)
        case 6: try await acknowledge(number, fence: Int64.random(in: 1...3, using: &random))
        case 7: try await use(Int64.random(in: 1...50, using: &random), of: customer)
        default:
            var sold = try Self.sold(number, product, original: product == "coins" ? nil : 1)
            if Int.random(in: 0...3, using: &random) == 0 { sold.originalID = nil }
            let second = Int64.random(in: 0...100, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: sold = Self.refunded(sold, after: second)
            case 1:
                let percentage = Int.random(in: 0...100_000, using: &random)
                sold = Self.refunded(sold, after: second, percentage: percentage)
            default: sold = Self.again(sold, after: second)
            }
            // By themselves, so that what else happens is the same with and without them.
            var words = SeededRandom(seed: UInt64(bitPattern: number * 1_000 + second))
            let renewals = Int.random(in: 0...2, using: &words) == 0 ? [try Self.renewal(&words)] : []
            try await show(
                sold,
                by: Bool.random(using: &random) ? customer : nil,
                order: Bool.random(using: &random) ? order : nil,
                realm: number > 10 ? Self.sandbox : Self.production,
                renewals: renewals
            )
        }
    }
}
