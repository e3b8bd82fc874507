import Crypto
import Encoding
import PurchaseModel

/// Makes and reads the opaque texts by which a listing goes on. Nobody else can make one, and one for another listing
/// is none.
struct PageTokens: Sendable {
    /// Where a listing stopped, as two numbers, and when.
    struct Place: Hashable, Sendable {
        var first: Int64
        var second: Int64 = 0
        var issuedAt = Timestamp(milliseconds: 0)
    }

    private let key: [UInt8]

    init(key: [UInt8]) {
        self.key = key
    }

    /// - Parameters:
    ///   - place: where the listing stopped.
    ///   - scope: what is listed, with all that selects it.
    /// - Returns: 48 letters of the URL alphabet.
    func text(_ place: Place, scope: [String]) -> String {
        var bytes: [UInt8] = []
        for number in [place.first, place.second, place.issuedAt.milliseconds] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        return String(decoding: Base64.encode(bytes + seal(bytes, scope), .url, isPadded: false), as: UTF8.self)
    }

    /// `nil` for what was not made here for the same scope.
    func place(_ text: String, scope: [String]) -> Place? {
        guard text.utf8.count == 48, let bytes = try? Base64.decode(Array(text.utf8), .url, padding: .forbidden),
            bytes.count == 36, MessageAuthentication.areEqual(seal(Array(bytes[..<24]), scope), Array(bytes[24...]))
        else { return nil }
        let numbers = (0..<3).map { index in
            bytes[index * 8..<index * 8 + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        return Place(first: numbers[0], second: numbers[1], issuedAt: Timestamp(milliseconds: numbers[2]))
    }

    private func seal(_ bytes: [UInt8], _ scope: [String]) -> [UInt8] {
        // Lengths first, so that no two scopes are written alike.
        let text = scope.map { "\($0.utf8.count):\($0)" }.joined()
        return Array(MessageAuthentication.hmacSHA256(key: key, message: bytes + Array(text.utf8)).prefix(12))
    }
}
