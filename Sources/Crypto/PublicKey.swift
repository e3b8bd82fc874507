import COpenSSL

/// A public key that signatures are checked with. Values are cheap to copy and may be used by many threads at once.
package struct PublicKey: Sendable {
    /// What a key can be used for here.
    package enum Kind: Hashable, Sendable {
        /// On the curve P-256, named by its OID, the point uncompressed.
        case p256
        /// On the curve P-384, named by its OID, the point uncompressed.
        case p384
        /// Of at most 4096 bits and with a short public exponent: checking a signature by any other takes a hundred
        /// times as long, and the sender may have chosen it.
        case rsa(bits: Int)
        case other
    }

    package let kind: Kind
    /// SubjectPublicKeyInfo, RFC 5280 § 4.1.2.7.
    package let der: [UInt8]
    let handle: SharedHandle
    private let means: Means

    /// What signatures are checked with.
    private enum Means {
        /// A key on P-256 as OpenSSL's calls on curves want it.
        case ecdsa(SharedHandle)
        case rsa(RSAContexts)
        case none
    }

    /// Reads a SubjectPublicKeyInfo; nothing may follow it.
    package init(der: [UInt8]) throws(CryptoError) {
        ErrorQueue.clear()
        var consumed = 0
        let key = unsafe withBytes(der.span) { start, count in
            var cursor: UnsafePointer<UInt8>? = unsafe start
            let key = unsafe d2i_PUBKEY(nil, &cursor, count)
            consumed = unsafe cursor.map { unsafe $0 - start } ?? 0
            return unsafe key
        }
        guard let key = unsafe key else { throw .malformed(ErrorQueue.text()) }
        let handle = unsafe SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) }
        guard consumed == der.count else { throw .malformed("bytes after the key") }
        try self.init(handle)
    }

    /// Shares a key that another value already owns.
    init(_ handle: SharedHandle) throws(CryptoError) {
        let encoded = unsafe handle.read { key in unsafe encodedBytes { unsafe i2d_PUBKEY(key, $0) } }
        guard let encoded else { throw .unsupported(ErrorQueue.text()) }
        self.handle = handle
        self.der = encoded
        kind = PublicKey.kind(of: handle, encoded)
        means = try PublicKey.means(for: kind, handle)
    }

    /// True when `signature` was made with this key's private half over `message` by ES256: ECDSA on P-256 with
    /// SHA-256, r and s as 32 bytes each (RFC 7518 § 3.4). False for a key on any other curve.
    ///
    /// Of a valid pair (r, s) the pair (r, n-s) is valid as well: a signature is no identity of what it signs.
    package func isValidES256(signature: Span<UInt8>, message: Span<UInt8>) -> Bool {
        let digest = Digest.sha256(message)
        return isValidES256(signature: signature, digest: digest.span)
    }

    /// The same for a signature in the form that OpenSSL writes, and StoreKit takes for promotional offers: DER.
    package func isValidES256(der: [UInt8], message: [UInt8]) -> Bool {
        guard let raw = ECDSASignature.raw(der: der) else { return false }
        return isValidES256(signature: raw, message: message)
    }

    package func isValidES256(signature: [UInt8], message: [UInt8]) -> Bool {
        isValidES256(signature: signature.span, message: message.span)
    }

    /// The same over a message whose SHA-256 is already known, 32 bytes.
    package func isValidES256(signature: Span<UInt8>, digest: Span<UInt8>) -> Bool {
        guard case .ecdsa(let key) = means, digest.count == Digest.sha256.length else { return false }
        return ECDSASignature.isValid(raw: signature, digest: digest, by: key)
    }

    /// True when `signature` was made with this key's private half over `message` by RSASSA-PKCS1-v1_5 (RFC 8017
    /// § 8.2). False for a key that is not RSA, and unless the signature is exactly as long as the modulus.
    package func isValidRSA(signature: Span<UInt8>, message: Span<UInt8>, digest: Digest) -> Bool {
        guard case .rsa(let bits) = kind, case .rsa(let contexts) = means, signature.count == (bits + 7) / 8 else {
            return false
        }
        let hash = digest.hash(message)
        return unsafe contexts.check(digest) { context in
            unsafe withBytes(signature) { signatureStart, signatureCount in
                unsafe withBytes(hash.span) { start, count in
                    unsafe EVP_PKEY_verify(context, signatureStart, signatureCount, start, count)
                }
            }
        }
    }

    package func isValidRSA(signature: [UInt8], message: [UInt8], digest: Digest) -> Bool {
        isValidRSA(signature: signature.span, message: message.span, digest: digest)
    }

    private static func kind(of handle: SharedHandle, _ der: [UInt8]) -> Kind {
        // A curve given by its parameters instead of its name encodes differently: so one that only looks like P-256,
        // with a generator of its maker's choice, is never taken for it.
        if der.count == 91, der.starts(with: p256Prefix) { return .p256 }
        if der.count == 120, der.starts(with: p384Prefix) { return .p384 }
        return unsafe handle.read { key in
            guard unsafe EVP_PKEY_is_a(key, "RSA") == 1 else { return .other }
            let bits = Int(unsafe EVP_PKEY_get_bits(key))
            // Modulus, exponent, and 35 bytes around them with an exponent of three bytes.
            return bits <= rsaBitsMax && der.count <= (bits + 7) / 8 + 40 ? .rsa(bits: bits) : .other
        }
    }

    private static func means(for kind: Kind, _ handle: SharedHandle) throws(CryptoError) -> Means {
        switch kind {
        case .p256:
            guard let key = unsafe handle.read({ unsafe assay_openssl_curve_key($0) }) else {
                throw .unsupported(ErrorQueue.text())
            }
            return .ecdsa(unsafe SharedHandle(owning: key) { unsafe assay_openssl_free_curve_key($0) })
        case .rsa: return .rsa(RSAContexts(handle))
        case .p384, .other: return .none
        }
    }

    private static let rsaBitsMax = 4_096

    /// The algorithm id-ecPublicKey with prime256v1, and the head of a BIT STRING with an uncompressed point.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    /// The same with secp384r1.
    private static let p384Prefix: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
        0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
    ]
}

extension PublicKey: Equatable {
    package static func == (left: PublicKey, right: PublicKey) -> Bool { left.der == right.der }
}

extension PublicKey {
    /// The SHA-1 of the key's bits, by which certificates name keys (RFC 5280 § 4.2.1.2, method 1); 20 bytes.
    package var identifier: [UInt8] {
        unsafe handle.read { key in
            // The bytes stand in an object of their own, which is freed after they were hashed.
            var found: OpaquePointer?
            guard unsafe X509_PUBKEY_set(&found, key) == 1 else { return [] }
            defer { unsafe X509_PUBKEY_free(found) }
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            guard unsafe X509_PUBKEY_get0_param(nil, &start, &count, nil, found) == 1 else { return [] }
            return unsafe Digest.sha1([UInt8](unsafe UnsafeBufferPointer(start: start, count: Int(count))))
        }
    }
}
