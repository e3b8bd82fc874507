import COpenSSL

/// A private key that signs. Values are cheap to copy and may be used by many threads at once.
package struct PrivateKey: Sendable {
    /// What can be generated.
    package enum Algorithm: Hashable, Sendable, CaseIterable {
        case p256, p384
        /// Too short for anything new; Apple's receipts of iOS 6 were signed with it.
        case rsa1024
        case rsa2048
    }

    package let publicKey: PublicKey
    let handle: SharedHandle

    /// Generates a key. An RSA key takes about a tenth of a second, one on a curve far less than a millisecond.
    package init(generate algorithm: Algorithm) throws(CryptoError) {
        switch algorithm {
        case .p256: unsafe try self.init(generate: "EC") { unsafe EVP_PKEY_CTX_set_group_name($0, "P-256") }
        case .p384: unsafe try self.init(generate: "EC") { unsafe EVP_PKEY_CTX_set_group_name($0, "P-384") }
        case .rsa1024: unsafe try self.init(generate: "RSA") { unsafe EVP_PKEY_CTX_set_rsa_keygen_bits($0, 1_024) }
        case .rsa2048: unsafe try self.init(generate: "RSA") { unsafe EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2_048) }
        }
    }

    private init(generate type: String, _ configure: (OpaquePointer) -> Int32) throws(CryptoError) {
        ErrorQueue.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
            throw .failed(ErrorQueue.text())
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe configure(context) == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw .failed(ErrorQueue.text()) }
        try unsafe self.init(owning: key)
    }

    /// Reads a key from PEM text (PKCS #8, and the older forms that OpenSSL knows). Encrypted keys are refused.
    package init(pem: [UInt8]) throws(CryptoError) {
        try self.init(PrivateKeyText.read(pem))
    }

    private init(owning key: OpaquePointer) throws(CryptoError) {
        try self.init(unsafe SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) })
    }

    private init(_ handle: SharedHandle) throws(CryptoError) {
        self.handle = handle
        // The public half shares the handle: OpenSSL reads only what it needs of it.
        publicKey = try PublicKey(handle)
    }

    /// PKCS #8, not encrypted, as PEM text.
    package func pem() throws(CryptoError) -> [UInt8] {
        try PrivateKeyText.write(handle)
    }

    /// Signs by ES256 (RFC 7518 § 3.4); the key must be on P-256.
    ///
    /// - Returns: r and s, 32 bytes each.
    package func signES256(_ message: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        try signES256(digest: Digest.sha256.hash(message))
    }

    /// The same over a message whose SHA-256 is already known, 32 bytes.
    package func signES256(digest: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard publicKey.kind == .p256 else { throw .unsupported("ES256 needs a key on P-256") }
        guard digest.count == Digest.sha256.length else { throw .unsupported("ES256 signs a SHA-256") }
        let der = unsafe try signature(of: digest) { unsafe EVP_PKEY_sign_init($0) }
        guard let raw = ECDSASignature.raw(der: der) else { throw .failed("a signature that cannot be read") }
        return raw
    }

    package func signES256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try signES256(message.span)
    }

    /// Signs by RSASSA-PKCS1-v1_5 (RFC 8017 § 8.2); the signature is as long as the modulus.
    package func signRSA(_ message: Span<UInt8>, digest: Digest) throws(CryptoError) -> [UInt8] {
        guard case .rsa = publicKey.kind else { throw .unsupported("not an RSA key") }
        return unsafe try signature(of: digest.hash(message)) { context in
            let isReady = unsafe digest.method.read { method in
                unsafe EVP_PKEY_sign_init(context) == 1
                    && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                    && EVP_PKEY_CTX_set_signature_md(context, method) == 1
            }
            return isReady ? 1 : 0
        }
    }

    package func signRSA(_ message: [UInt8], digest: Digest) throws(CryptoError) -> [UInt8] {
        try signRSA(message.span, digest: digest)
    }

    /// Signs as a key of this kind signs in certificates: ECDSA as DER, or RSASSA-PKCS1-v1_5.
    package func sign(_ message: [UInt8], digest: Digest) throws(CryptoError) -> [UInt8] {
        if case .rsa = publicKey.kind { return try signRSA(message, digest: digest) }
        return unsafe try signature(of: digest.hash(message.span)) { unsafe EVP_PKEY_sign_init($0) }
    }

    private func signature(
        of digest: [UInt8],
        _ prepare: (OpaquePointer) -> Int32
    ) throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        let signature: [UInt8]? = unsafe handle.read { key in
            guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return nil }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            let capacity = Int(unsafe EVP_PKEY_get_size(key))
            guard unsafe prepare(context) == 1, capacity > 0 else { return nil }
            // The buffer has room for the longest signature of this key, and OpenSSL is told its size.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, written in
                var length = capacity
                let isDone = unsafe withBytes(digest.span) { start, count in
                    unsafe EVP_PKEY_sign(context, output.baseAddress, &length, start, count)
                }
                written = isDone == 1 ? length : 0
            }
            return bytes.isEmpty ? nil : bytes
        }
        guard let signature else { throw .failed(ErrorQueue.text()) }
        return signature
    }
}
