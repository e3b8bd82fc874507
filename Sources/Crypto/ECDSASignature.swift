import COpenSSL

/// ECDSA signatures on P-256, r and s as 32 bytes each (RFC 7518 § 3.4), and as DER (RFC 3279 § 2.2.3) where Apple wants
/// them so.
enum ECDSASignature {
    /// Of the raw form: two numbers of 32 bytes, big-endian.
    static let rawLength = 64

    /// True when `raw` was made over a hash with the private half of a key for OpenSSL's calls on curves. Whether r and s
    /// are in range is OpenSSL's to see: it refuses what is not in 1 … n-1.
    static func isValid(raw: Span<UInt8>, digest: Span<UInt8>, by key: SharedHandle) -> Bool {
        guard raw.count == rawLength, let signature = unsafe ECDSA_SIG_new() else { return false }
        defer { unsafe ECDSA_SIG_free(signature) }
        let (r, s) = unsafe withBytes(raw) { start, _ in
            unsafe (BN_bin2bn(start, 32, nil), BN_bin2bn(start + 32, 32, nil))
        }
        // The signature owns both numbers from here on, or refuses when memory for one of them was out.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return false
        }
        let answer = unsafe withBytes(digest) { start, count in
            unsafe key.read { unsafe assay_openssl_check_ecdsa(start, Int32(count), signature, $0) }
        }
        // A refused signature may leave its reason in the thread's queue.
        if answer != 1 { ErrorQueue.clear() }
        return answer == 1
    }

    /// The raw form of a minimal DER signature; `nil` for anything else.
    static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = takeInteger(from: &rest), let s = takeInteger(from: &rest), rest.isEmpty else { return nil }
        return r + s
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
