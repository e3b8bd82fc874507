import HTTP
import Testing

@Suite struct EgressRuleTests {
    /// The bytes of an address, by way of the block that holds nothing else.
    private static func remote(_ text: String) throws -> HTTPRemote {
        let mapped = "::ffff:"
        if text.hasPrefix(mapped) {
            let inner = try remote(String(text.dropFirst(mapped.count)))
            let head = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
            return HTTPRemote(address: head + inner.address, port: 443)
        }
        let address = try #require(bytes(of: text))
        try #require(address.count == (text.contains(":") ? 16 : 4), "\(text)")
        return HTTPRemote(address: address, port: 443)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        if !text.contains(":") { return text.split(separator: ".").compactMap { UInt8($0) } }
        let halves = text.split(separator: "::", omittingEmptySubsequences: false).map { half in
            half.split(separator: ":").compactMap { UInt16($0, radix: 16) }.flatMap {
                [UInt8($0 >> 8), UInt8($0 & 0xFF)]
            }
        }
        guard let first = halves.first, let last = halves.last, halves.count == 2 else { return halves.first }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    @Test(arguments: [
        // Loopback, this host, private, shared, link-local.
        "127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
        "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.127.255.255", "100.100.100.200",
        "169.254.0.1", "169.254.169.254", "169.254.170.2", "168.63.129.16",
        // Protocols, documentation, benchmarks, multicast, reserved, broadcast.
        "192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "198.18.0.1",
        "198.19.255.255", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        // The same in IPv6.
        "::1", "::", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00::1", "fdff::1", "fd00:ec2::254", "fd20:ce::254",
        "ff02::1", "100::1", "2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "5f00::1", "3ffe::1", "4000::1",
        // IPv4 inside IPv6: mapped, compatible, translated, 6to4, Teredo, ISATAP.
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1", "::0a00:1", "::0808:808",
        "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "64:ff9b:1::7f00:1",
        "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "2001::1", "2001:0:808:808::f5ff:fffe",
        "2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:a9fe:a9fe",
    ])
    func nothingNearUsIsConnectedTo(text: String) throws {
        #expect(!EgressRule().allows(try Self.remote(text)))
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.17", "::ffff:8.8.8.8",
        "2a00:1450:4001:82a::200e", "2606:4700::1111", "2001:4860:4860::8888", "2400:cb00::1", "64:ff9b::808:808",
        "2001:200::1", "2a00:1450::5efe:808:808",
    ])
    func theRestOfTheWorldIs(text: String) throws {
        #expect(EgressRule().allows(try Self.remote(text)))
    }

    @Test func whoIsUnknownIsNot() {
        #expect(!EgressRule().allows(.none))
    }

    @Test(arguments: [
        ("10.1.2.0/24", "10.1.2.3", true), ("10.1.2.0/24", "10.1.3.1", false), ("10.1.2.0/24", "127.0.0.1", false),
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.4", false), ("fd00:1::/32", "fd00:1::5", true),
        ("fd00:1::/32", "fd00:2::5", false), ("127.0.0.0/8", "::ffff:127.0.0.1", true),
        ("127.0.0.0/8", "64:ff9b::7f00:1", true), ("127.0.0.0/8", "::1", false), ("::1", "::1", true),
        ("0.0.0.0/0", "169.254.169.254", true), ("0.0.0.0/0", "fe80::1", false), ("10.0.0.0/9", "10.127.0.1", true),
        ("10.0.0.0/9", "10.128.0.1", false),
    ])
    func theOperatorMayAllowSomeOfIt(block: String, text: String, isAllowed: Bool) throws {
        let rule = EgressRule(allowed: [try #require(AddressBlock(block))])
        #expect(rule.allows(try Self.remote(text)) == isAllowed)
    }

    @Test(
        arguments: [
            ("10.0.0.0/8", "10.0.0.0/8"), ("10.0.0.1", "10.0.0.1/32"), ("::1", "::1/128"), ("fd00::/8", "fd00::/8"),
            ("0.0.0.0/0", "0.0.0.0/0"), ("::/0", "::/0"), ("10.0.0.1/8", nil), ("10.0.0.0/33", nil), ("::1/129", nil),
            ("10.0.0/8", nil), ("010.0.0.0/8", nil), ("0x0a.0.0.0/8", nil), ("10.0.0.0/", nil), ("10.0.0.0/-1", nil),
            ("10.0.0.0/8/8", nil), ("/8", nil), ("", nil), ("fe80::1%eth0", nil), ("::ffff:10.0.0.0/104", nil),
            ("localhost", nil), ("10.0.0.0/0008", nil), (" 10.0.0.0/8", nil),
        ] as [(String, String?)]
    )
    func aBlockIsWrittenInOneWay(text: String, meaning: String?) {
        #expect(AddressBlock(text)?.description == meaning)
    }

    @Test(
        arguments: [
            ("https://shop.example/hooks?a=b", nil), ("https://shop.example", nil), ("HTTPS://SHOP.example/", nil),
            ("https://shop.example:443/", nil), ("https://shop.example:8443/", nil),
            ("https://xn--bcher-kva.example/", nil),
            ("https://8.8.8.8/", nil), ("https://[2606:4700::1111]/", nil), ("https://[2606:4700::1111]:8443/", nil),
            // Numbers in other spellings pass here: they are judged when they are connected to.
            ("https://2130706433/", nil), ("https://0177.0.0.1/", nil), ("https://0x7f.1/", nil),
            ("https://127.1/", nil),
            ("https://[fd00::1]/", nil), ("http://inside.example/", nil), ("http://INSIDE.example:9000/a", nil),
            ("https://inside.example:5432/", nil),
            ("http://shop.example/", .scheme), ("ftp://shop.example/", .scheme), ("file:///etc/passwd", .scheme),
            ("gopher://a/", .scheme), ("shop.example/hooks", .scheme), ("", .scheme), ("//shop.example/", .scheme),
            ("https", .scheme), ("javascript:alert(1)", .scheme), ("http://inside.example.evil.example/", .scheme),
            ("https:/shop.example/", .host), ("https:shop.example", .host), ("https://", .host), ("https:///x", .host),
            ("https://.example/", .host), ("https://shop%2eexample/", .host), ("https://[::1", .host),
            ("https://[::ffff:127.0.0.1]/", .host), ("https://[fe80::1%25eth0]/", .host),
            ("https://[127.0.0.1]/", .host),
            ("https://[::1/64]/", .host), ("https://a,b/", .host), ("https://?x", .host), ("https://[]/", .host),
            ("https://a:b@shop.example/", .userinfo), ("https://shop.example@127.0.0.1/", .userinfo),
            ("https://@shop.example/", .userinfo),
            ("https://shop.example/#part", .fragment), ("https://127.0.0.1#@shop.example/", .fragment),
            ("https://shop.example:80/", .port), ("https://shop.example:22/", .port),
            ("https://shop.example:5432/", .port),
            ("https://shop.example:6379/", .port), ("https://shop.example:0/", .port),
            ("https://shop.example:/", .port),
            ("https://shop.example:65536/", .port), ("https://shop.example:0443/", .port),
            ("https://shop.example:4a3/", .port),
            ("https://[2606:4700::1111]x/", .port), ("https://shop.example:443:443/", .port),
            ("https://shop.example\\@127.0.0.1/", .malformed), ("https://shop.example/a b", .malformed),
            ("https://shop.example/\r\nX: y", .malformed), ("https://bücher.example/", .malformed),
            ("https://shop.example/\u{0}", .malformed), ("https://①②⑦.0.0.1/", .malformed),
            ("https://shop.example/" + String(repeating: "a", count: 2_028), .tooLong),
        ] as [(String, EgressURLFault?)]
    )
    func aURLIsJudgedByItsText(url: String, fault: EgressURLFault?) {
        let rule = EgressRule(plainHosts: ["inside.example"])
        do throws(EgressURLFault) {
            try rule.check(url: url)
            #expect(fault == nil)
        } catch {
            #expect(error == fault)
        }
    }

    /// What calls only what is its owner's asks for the form alone, whatever host and port it is.
    @Test(arguments: [
        ("http://127.0.0.1:9/apple", true), ("HTTPS://shop.example", true), ("http://shop:80/?a=b", true),
        ("http://[::1]:5432/", true), ("", false), ("nonsense", false), ("shop.example/apple", false),
        ("ftp://shop.example/", false), ("http://", false), ("http:///apple", false), ("http:shop.example", false),
        ("http://shop.example:0/", false), ("http://a@shop.example/", false), ("http://shop.example/#a", false),
        ("http://shop.example/a b", false),
    ])
    func whatCanBeCalledHasASchemeAndAHost(url: String, isSo: Bool) { #expect(EgressRule.canCall(url) == isSo) }
}
