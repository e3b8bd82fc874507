/// Why a URL is not taken as the address of somebody's server. No case is worth another try.
package enum EgressURLFault: String, Error, Equatable, Sendable, CaseIterable {
    case tooLong = "too_long"
    /// A byte that no URL has: a space, a control byte, a backslash, anything but ASCII.
    case malformed
    /// Neither `https` nor, for a host that the operator allows, `http`.
    case scheme
    /// A name or a password before the host.
    case userinfo
    case host
    case port
    /// What follows a `#` is never sent.
    case fragment
}

extension EgressRule {
    /// Four times what registers of URLs usually keep.
    package static let urlBytesMax = 2_048

    /// Judges a URL by its text when it is set, so that whoever sets it hears of it. What the text cannot tell, where its
    /// name or number leads, ``allows(_:)`` decides at each connection.
    ///
    /// - Throws: ``EgressURLFault``.
    package func check(url: String) throws(EgressURLFault) {
        let (isPlain, host, port) = try EgressRule.parts(of: url)
        let isTrusted = plainHosts.contains(EgressRule.lowercased(host))
        guard !isPlain || isTrusted else { throw .scheme }
        guard isTrusted || EgressRule.allows(port: port ?? 443) else { throw .port }
    }

    /// Whether a text is an `http` or `https` URL that can be called, wherever it leads: for who calls only what is their own.
    package static func canCall(_ text: String) -> Bool {
        do throws(EgressURLFault) { _ = try parts(of: text) } catch { return false }
        return true
    }

    private static func parts(
        of url: String
    ) throws(EgressURLFault) -> (isPlain: Bool, host: ArraySlice<UInt8>, port: Int?) {
        let letters = Array(url.utf8)
        guard letters.count <= EgressRule.urlBytesMax else { throw .tooLong }
        guard letters.allSatisfy({ (0x21...0x7E).contains($0) && !EgressRule.strange.contains($0) }) else {
            throw .malformed
        }
        guard let colon = letters.firstIndex(of: UInt8(ascii: ":")) else { throw .scheme }
        let isPlain: Bool
        switch EgressRule.lowercased(letters[..<colon]) {
        case "https": isPlain = false
        case "http": isPlain = true
        default: throw .scheme
        }
        let rest = letters[(colon + 1)...]
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { throw .host }
        guard !rest.contains(UInt8(ascii: "#")) else { throw .fragment }
        let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userinfo }
        let (host, port) = try EgressRule.split(authority)
        return (isPlain, host, port)
    }

    /// The port of HTTPS, and those that no system keeps for itself, save where something listens that was never meant for
    /// strangers.
    static func allows(port: Int) -> Bool {
        port == 443 || port >= 1_024 && !inwardPorts.contains(port)
    }

    /// Databases, queues, caches, remote control of machines and of what runs on them.
    private static let inwardPorts: Set = [
        1_433, 1_521, 2_049, 2_181, 2_375, 2_376, 2_379, 2_380, 3_306, 3_389, 4_369, 5_432, 5_433, 5_671, 5_672, 5_900,
        5_984, 5_985, 5_986, 6_379, 6_380, 6_432, 6_443, 7_000, 7_001, 8_086, 8_500, 9_042, 9_092, 9_200, 9_300, 10_250,
        10_255, 11_211, 15_672, 26_257, 27_017, 27_018, 27_019,
    ]

    /// Read as a slash, a quote or a border by some and not by others.
    private static let strange = Array(#"\"<>^`{|}"#.utf8)

    private static func split(
        _ authority: ArraySlice<UInt8>
    ) throws(EgressURLFault) -> (host: ArraySlice<UInt8>, port: Int?) {
        let host: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            // A zone (`%eth0`) would choose one of our own networks.
            let inner = authority[(authority.startIndex + 1)..<end]
            guard AddressBlock(String(decoding: inner, as: UTF8.self)) != nil, inner.contains(UInt8(ascii: ":")),
                !inner.contains(UInt8(ascii: "/"))
            else { throw .host }
            host = authority[...end]
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
            guard (1...253).contains(host.count), host.allSatisfy(isHostLetter), host.first != UInt8(ascii: ".") else {
                throw .host
            }
        }
        let rest = authority[host.endIndex...]
        if rest.isEmpty { return (host, nil) }
        let digits = rest.dropFirst()
        guard rest.first == UInt8(ascii: ":"), (1...5).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != 0x30
        else { throw .port }
        let port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard port <= 65_535 else { throw .port }
        return (host, port)
    }

    /// Letters, digits, `-`, `.` and `_`: names in other scripts come as `xn--…`, and no percent sign hides any other.
    private static func isHostLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func lowercased(_ letters: ArraySlice<UInt8>) -> String {
        String(
            decoding: letters.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }
}
