import Encoding
import Foundation
import TestSupport

/// A file of old purchases, most of them good, and what an import makes of each row.
struct ImportSample: Sendable {
    let bytes: [UInt8]
    /// By the row's line, from 1.
    let outcomes: [String]
    /// How many purchases it holds.
    let purchases: Int

    init(rows: Int, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        var outcomes: [String] = []
        var good: [String] = []
        for number in 0..<Int64(rows) {
            // Two thirds of them would be formulas in a table, or look as if one had been changed.
            let customer = "\(["", "=", "'+"][Int(number % 3)])customer-\(number % 700)"
            func line(_ proof: String, customer: String = customer) -> [UInt8] {
                JSONWriter.object { json in
                    json.member("proof", proof)
                    json.member("customer_id", customer)
                }
            }
            let (row, outcome): ([UInt8], String)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                // Another product under the same signature.
                (row, outcome) = (line(try Self.forged(number)), "refused")
            case 1 where !good.isEmpty:
                (row, outcome) = (line(good[Int.random(in: 0..<good.count, using: &random)]), "known")
            case 2: (row, outcome) = (Array("{\"proof\": \"eyJ".utf8), "invalid")
            case 3: (row, outcome) = (line("eyJ.a.b", customer: "with a space"), "invalid")
            case 4: (row, outcome) = (line(String(2_000_000_900_000_000 + number)), "refused")
            default:
                let proof = try Purchase.jws(number)
                good.append(proof)
                (row, outcome) = (line(proof), "recorded")
            }
            bytes += row + [0x0A]
            outcomes.append(outcome)
        }
        self.bytes = bytes
        self.outcomes = outcomes
        purchases = good.count
    }

    private static func forged(_ number: Int64) throws -> String {
        let (one, other) = (try Purchase.jws(number), try Purchase.jws(number, product: "gold"))
        let (left, right) = (one.split(separator: "."), other.split(separator: "."))
        return [left[0], right[1], left[2]].joined(separator: ".")
    }
}
