import AppleFormats
import Encoding

/// For every ECDSA signature (r, s) there is another, (r, n - s), that anybody can make of it.
enum ECDSATwin {
    /// The order of P-256, SEC 2 § 2.4.2.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    static func of(_ token: CompactJWS) throws -> [UInt8] {
        let signature = try token.signature()
        let twin = Array(signature.prefix(32)) + negated(Array(signature.suffix(32)))
        return token.signingInput + [UInt8(ascii: ".")] + Base64.encode(twin, .url, isPadded: false)
    }

    private static func negated(_ number: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(number[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[index] = UInt8(truncatingIfNeeded: difference)
        }
        return result
    }
}
