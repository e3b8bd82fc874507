import COpenSSL

/// HMAC-SHA-256 (RFC 2104): shows that who sent a message knows the key.
package enum MessageAuthentication {
    /// 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: Span<UInt8>) -> [UInt8] {
        let length = Digest.sha256.length
        return unsafe Digest.sha256.method.read { method in
            unsafe withBytes(key.span) { keyStart, keyCount in
                unsafe withBytes(message) { start, count in
                    // The output has room for exactly what SHA-256 writes; a key's length is far below Int32.max.
                    unsafe [UInt8](unsafeUninitializedCapacity: length) { output, written in
                        let mac = unsafe HMAC(
                            method,
                            keyStart,
                            Int32(clamping: keyCount),
                            start,
                            count,
                            output.baseAddress,
                            nil
                        )
                        precondition(unsafe mac != nil, "OpenSSL refused to authenticate")
                        written = length
                    }
                }
            }
        }
    }

    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        hmacSHA256(key: key, message: message.span)
    }

    /// Compares secrets in a time that tells nothing about where they differ; only the lengths can be told apart.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe withBytes(left) { leftStart, count in
            unsafe withBytes(right) { rightStart, _ in unsafe CRYPTO_memcmp(leftStart, rightStart, count) == 0 }
        }
    }

    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        areEqual(left.span, right.span)
    }
}
