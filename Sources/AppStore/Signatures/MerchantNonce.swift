import Crypto
import Encoding
import PurchaseModel

/// A UUID that is used for one signature: version 4, RFC 9562 § 5.4. In lower case, as Apple's rules for the older
/// signature want it.
package struct MerchantNonce: Hashable, Sendable, CustomStringConvertible {
    private let uuid: AccountToken

    /// Sixteen bytes out of a generator; six bits of them say what they are.
    package init(random bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        uuid = AccountToken(
            high: halves[0] & ~0xF000 | 0x4000,
            low: halves[1] & ~(0xC0 << 56) | 0x80 << 56
        )
    }

    /// `nil` unless it is a UUID; digits may be in either case.
    package init?(_ text: String) {
        guard let halves = UUIDText.halves(text) else { return nil }
        uuid = AccountToken(high: halves.high, low: halves.low)
    }

    /// One that nobody can guess.
    package static func generated() -> MerchantNonce { MerchantNonce(random: SecureRandom.bytes(16)) }

    package var description: String { uuid.description }
}
