import COpenSSL

/// UUIDs that some clients make of a user's name. MD5 gives them their digits and proves nothing: whoever likes finds
/// two names with one UUID. It is no ``Digest``, so that nobody takes it for one.
package enum NameUUID {
    /// In the shape of version 3, as the purchase plugin for Cordova makes the account token of a user name: the digits
    /// of the MD5, of which the thirteenth becomes 3 and the seventeenth 8. No namespace goes before the name, and all
    /// four bits of the variant's digit are given, so it is not quite the UUID of RFC 9562 § 5.3.
    ///
    /// Source: cordova-plugin-purchase 13, `md5toUUID`.
    ///
    /// - Parameter name: in UTF-8.
    /// - Returns: the first and the last 64 bits; nil for the empty name, of which the plugin makes none, and where this
    ///   OpenSSL has no MD5.
    package static func version3(_ name: [UInt8]) -> (high: UInt64, low: UInt64)? {
        guard !name.isEmpty, let hash = md5(name) else { return nil }
        let high = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = hash.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (high & ~0xF000 | 0x3000, low & ~(0xF << 60) | 0x8 << 60)
    }

    /// 16 bytes (RFC 1321); nil where this OpenSSL has no MD5, as one in FIPS mode.
    package static func md5(_ bytes: [UInt8]) -> [UInt8]? {
        guard let method else { return nil }
        return unsafe method.read { method in
            unsafe withBytes(bytes.span) { start, count in
                // The output has room for exactly what MD5 writes.
                unsafe [UInt8](unsafeUninitializedCapacity: 16) { output, written in
                    let isDone = unsafe EVP_Digest(start, count, output.baseAddress, nil, method, nil)
                    precondition(isDone == 1, "OpenSSL refused to hash")
                    written = 16
                }
            }
        }
    }

    private static let method: SharedHandle? = {
        guard let method = unsafe EVP_MD_fetch(nil, "MD5", nil) else {
            ErrorQueue.clear()
            return nil
        }
        return unsafe SharedHandle(owning: method) { unsafe EVP_MD_free($0) }
    }()
}
