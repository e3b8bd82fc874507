import Glibc

/// A range of addresses, as `10.0.0.0/8` or `fd00::/8` name it. RFC 4632 § 3.1, RFC 4291 § 2.3.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes or 16; what the prefix leaves free is zero.
    private let address: [UInt8]
    private let prefix: Int

    /// Nil unless the text is an address, or an address, `/` and a prefix; bits behind the prefix must be zero, for who
    /// writes `10.1.2.3/8` means something else. IPv4 inside IPv6 (`::ffff:…`) is written as IPv4.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            let address = AddressBlock.address(String(decoding: Array(parts[0]), as: UTF8.self))
        else { return nil }
        var prefix = address.count * 8
        if parts.count == 2 {
            guard (1...3).contains(parts[1].count), parts[1].allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            prefix = parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        self.init(address, prefix)
    }

    private init?(_ address: [UInt8], _ prefix: Int) {
        let isWhole = HTTPRemote(address: address, port: 0).address == address
        guard isWhole, prefix <= address.count * 8 else { return nil }
        self.address = address
        self.prefix = prefix
        let isFree = (prefix..<address.count * 8).allSatisfy { address[$0 / 8] & (0x80 >> UInt8($0 % 8)) == 0 }
        guard isFree else { return nil }
    }

    /// A block that this file's neighbours know to be one.
    init(known text: String) {
        guard let block = AddressBlock(text) else { preconditionFailure("\(text) is a block of addresses") }
        self = block
    }

    /// Whether `other`, 4 bytes or 16, lies in it; IPv4 never lies in a block of IPv6.
    package func contains(_ other: [UInt8]) -> Bool {
        guard other.count == address.count else { return false }
        let whole = prefix / 8
        guard other.prefix(whole).elementsEqual(address.prefix(whole)) else { return false }
        let rest = prefix % 8
        return rest == 0 || (other[whole] ^ address[whole]) >> UInt8(8 - rest) == 0
    }

    package var description: String { "\(HTTPRemote(address: address, port: 0))/\(prefix)" }

    /// The bytes of an address in its common text form; no leading zeros, no zone.
    static func address(_ text: String) -> [UInt8]? {
        // Both buffers have the size that the family asks for, and the text lives until the call has returned.
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 { return unsafe withUnsafeBytes(of: &four) { unsafe Array($0) } }
        var sixteen = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: &sixteen) { unsafe Array($0) }
    }
}
