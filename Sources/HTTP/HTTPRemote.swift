/// An address and a port at the other end of a connection.
package struct HTTPRemote: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes for IPv4, also when the client came through an IPv6 socket; 16 for IPv6; none when unknown.
    package let address: [UInt8]
    package let port: UInt16

    package init(address: [UInt8], port: UInt16) {
        // RFC 4291 § 2.5.5.2: ten bytes 00, two FF, then the IPv4 address.
        let isMapped =
            address.count == 16 && address.prefix(10).allSatisfy { $0 == 0 }
            && address.dropFirst(10).prefix(2).allSatisfy { $0 == 0xFF }
        self.address = isMapped ? Array(address.suffix(4)) : address
        self.port = port
    }

    /// What one household has, and who is counted by its address is counted by: of IPv6 a whole /64, in which it takes as many
    /// addresses as it likes; of IPv4 the address; nothing when unknown.
    package var network: [UInt8] { Array(address.prefix(8)) }

    /// Nobody that we know: a request that came through no socket.
    package static let none = HTTPRemote(address: [], port: 0)

    /// `192.0.2.1`, or IPv6 in the form of RFC 5952; without the port.
    package var description: String {
        if address.count == 4 { return address.map { String($0) }.joined(separator: ".") }
        guard address.count == 16 else { return "unknown" }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]) }
        guard let zeros = HTTPRemote.longestZeros(groups) else { return HTTPRemote.text(groups[...]) }
        return HTTPRemote.text(groups[..<zeros.lowerBound]) + "::" + HTTPRemote.text(groups[zeros.upperBound...])
    }

    private static func text(_ groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// The first of the longest runs of two or more zero groups.
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int>? {
        var best = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 {
                start = index + 1
            } else if index + 1 - start > best.count {
                best = start..<index + 1
            }
        }
        return best.count >= 2 ? best : nil
    }
}
