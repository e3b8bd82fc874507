/// Where the server listens: an IP address and a port.
struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// IPv4 or IPv6 in text, without brackets.
    let address: String
    /// 0 lets the system choose.
    let port: UInt16

    init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `127.0.0.1:8080`, `[::1]:8080`; nil for anything else. A name is none: who answers to it may change.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), let port = Self.port(bytes[(colon + 1)...]) else {
            return nil
        }
        let host = bytes[..<colon]
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]") && host.count > 2
        let address = isBracketed ? host.dropFirst().dropLast() : host
        guard isBracketed ? Self.isIPv6(address) : Self.isIPv4(address) else { return nil }
        self.init(address: String(decoding: address, as: UTF8.self), port: port)
    }

    var description: String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }

    private static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(String(decoding: part, as: UTF8.self)) != nil
                    && (part.count == 1 || part.first != UInt8(ascii: "0"))
            }
    }

    /// A first look only; the listener reads the address in earnest.
    private static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
        let isOfIPv6 = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == 0x3A || byte == 0x2E
        }
        return text.count <= 45 && text.allSatisfy(isOfIPv6) && text.filter { $0 == 0x3A }.count >= 2
    }
}
