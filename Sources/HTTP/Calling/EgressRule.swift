/// Where calls may go whose URL somebody else chose: out into the Internet, and nowhere near us.
///
/// An address is judged when it is about to be connected to, whatever name or spelling led to it. So a name whose answer
/// changes between two looks gains nothing.
///
/// Source: IANA, *IPv4 Special-Purpose Address Registry* and *IPv6 Special-Purpose Address Registry*, 2025.
package struct EgressRule: Sendable, Equatable {
    /// Blocks that the operator allows although they are nobody's business otherwise: a receiver in the same network.
    package var allowed: [AddressBlock]
    /// Hosts, in lower case, that may be called by `http` and at any port: inside a network of one's own.
    package var plainHosts: [String]

    package init(allowed: [AddressBlock] = [], plainHosts: [String] = []) {
        self.allowed = allowed
        self.plainHosts = plainHosts
    }

    /// Whether a connection may be opened to this address.
    package func allows(_ remote: HTTPRemote) -> Bool {
        let address = remote.address
        if allowed.contains(where: { $0.contains(address) }) { return true }
        switch address.count {
        case 4: return !EgressRule.refusedIPv4.contains { $0.contains(address) }
        case 16:
            // A translator of the network's own (RFC 6052) hides an IPv4 address in the last four bytes.
            if EgressRule.translated.contains(address) {
                return allows(HTTPRemote(address: Array(address.suffix(4)), port: remote.port))
            }
            return EgressRule.globalIPv6.contains(address)
                && !EgressRule.refusedIPv6.contains { $0.contains(address) } && !hidesARefusedAddress(address)
        default: return false
        }
    }

    /// ISATAP (RFC 5214 § 6.1) may stand under any prefix: `0:5efe` or `200:5efe`, then an IPv4 address.
    private func hidesARefusedAddress(_ address: [UInt8]) -> Bool {
        guard address[8] & ~0x03 == 0, address[9] == 0, address[10] == 0x5E, address[11] == 0xFE else { return false }
        return !allows(HTTPRemote(address: Array(address.suffix(4)), port: 0))
    }

    private static let refusedIPv4 = [
        "0.0.0.0/8",  // this network
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // private use
        "100.64.0.0/10",  // shared by a provider's customers; some clouds' metadata
        "127.0.0.0/8",  // loopback
        "168.63.129.16/32",  // public in form; Azure's own service inside its machines
        "169.254.0.0/16",  // link-local; most clouds' metadata
        "192.0.0.0/24",  // protocol assignments; a cloud's metadata
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // documentation
        "192.88.99.0/24",  // relays of 6to4
        "198.18.0.0/15",  // benchmarks
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4",  // reserved, and broadcast
    ].map { AddressBlock(known: $0) }

    /// What is given out for the Internet at large. All else (loopback, unique-local, link-local, site-local, multicast,
    /// IPv4 in its compatible form, discard-only, segment routing) is refused by not being in it.
    private static let globalIPv6 = AddressBlock(known: "2000::/3")

    private static let refusedIPv6 = [
        "2001::/23",  // protocol assignments; Teredo, ORCHID and benchmarks among them
        "2001:db8::/32", "3fff::/20",  // documentation
        "2002::/16",  // 6to4, which holds an IPv4 address
        "3ffe::/16",  // the 6bone, given back
    ].map { AddressBlock(known: $0) }

    /// The well-known prefix of NAT64. The local-use one, 64:ff9b:1::/48, is refused with all that is not global.
    private static let translated = AddressBlock(known: "64:ff9b::/96")
}
