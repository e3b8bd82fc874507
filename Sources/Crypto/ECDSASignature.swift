/// The two ways of writing an ECDSA signature on P-256: r and s as 32 bytes each (RFC 7518 § 3.4), and as DER for
/// OpenSSL (RFC 3279 § 2.2.3).
enum ECDSASignature {
    /// Of the raw form: two numbers of 32 bytes, big-endian.
    static let rawLength = 64

    /// Hands the minimal DER of a raw signature to `body`; `nil` unless it is 64 bytes. Whether r and s are in range is
    /// not looked at: who verifies must refuse what is not in 1 … n-1, and OpenSSL does.
    static func withDER<Result>(ofRaw raw: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard raw.count == rawLength else { return nil }
        let (r, s) = (raw.extracting(0..<32), raw.extracting(32..<64))
        let bodyLength = 4 + integerLength(r) + integerLength(s)
        // Two numbers of at most 33 bytes, each behind tag and length, behind tag and length.
        var bytes = InlineArray<72, UInt8>(repeating: 0)
        var der = bytes.mutableSpan
        der[0] = 0x30
        der[1] = UInt8(bodyLength)
        var end = 2
        appendInteger(r, to: &der, at: &end)
        appendInteger(s, to: &der, at: &end)
        return body(bytes.span.extracting(0..<end))
    }

    /// The raw form of a minimal DER signature; `nil` for anything else.
    static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = takeInteger(from: &rest), let s = takeInteger(from: &rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func appendInteger(_ number: Span<UInt8>, to der: inout MutableSpan<UInt8>, at end: inout Int) {
        let length = integerLength(number)
        der[end] = 0x02
        der[end + 1] = UInt8(length)
        end += 2
        if length > number.count { end += 1 }
        for index in max(0, number.count - length)..<number.count {
            der[end] = number[index]
            end += 1
        }
    }

    /// Without leading zeros, and with one in front of a byte that would make the number negative.
    private static func integerLength(_ number: Span<UInt8>) -> Int {
        var first = 0
        while first < number.count - 1, number[first] == 0 { first += 1 }
        return number.count - first + (number[first] >= 0x80 ? 1 : 0)
    }

    /// 32 bytes, big-endian.
    private static func takeInteger(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let length = rest.popFirst().map(Int.init), (1...33).contains(length),
            rest.count >= length
        else { return nil }
        let number = rest.prefix(length).drop { $0 == 0 }
        rest = rest.dropFirst(length)
        guard number.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - number.count) + number
    }
}
