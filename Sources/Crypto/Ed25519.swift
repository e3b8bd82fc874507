import COpenSSL

/// A key that signs by Ed25519 (RFC 8032 § 5.1). A type of its own: no certificate that we read is signed by it, so what
/// checks certificates need not know of it.
package struct Ed25519PrivateKey: Sendable {
    package let publicKey: Ed25519PublicKey
    /// The 32 bytes that the key is made of; a secret.
    package let seed: [UInt8]
    private let handle: SharedHandle

    /// A new key of the system's random numbers.
    package init() throws(CryptoError) {
        try self.init(seed: SecureRandom.bytes(Ed25519.seedLength))
    }

    package init(seed: [UInt8]) throws(CryptoError) {
        guard seed.count == Ed25519.seedLength else { throw .malformed("a seed has 32 bytes") }
        ErrorQueue.clear()
        let key = unsafe withBytes(seed.span) { start, count in
            unsafe EVP_PKEY_new_raw_private_key_ex(nil, Ed25519.name, nil, start, count)
        }
        guard let key = unsafe key else { throw .failed(ErrorQueue.text()) }
        try self.init(unsafe SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) })
    }

    /// Reads a key from PEM text: PKCS #8 (RFC 8410 § 7), not encrypted.
    package init(pem: [UInt8]) throws(CryptoError) {
        try self.init(PrivateKeyText.read(pem))
    }

    private init(_ handle: SharedHandle) throws(CryptoError) {
        let seed = unsafe Ed25519.bytes(of: handle) { unsafe EVP_PKEY_get_raw_private_key($0, $1, $2) }
        guard unsafe handle.read({ unsafe EVP_PKEY_is_a($0, Ed25519.name) == 1 }), let seed else {
            throw .unsupported("no Ed25519 key")
        }
        self.handle = handle
        self.seed = seed
        // The public half shares the handle: OpenSSL reads only what it needs of it.
        publicKey = try Ed25519PublicKey(handle)
    }

    /// PKCS #8, not encrypted, as PEM text.
    package func pem() throws(CryptoError) -> [UInt8] { try PrivateKeyText.write(handle) }

    /// The signature of a message, 64 bytes; the same for the same message.
    package func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        let signature = unsafe handle.read { key -> [UInt8]? in
            guard let context = unsafe EVP_MD_CTX_new() else { return nil }
            defer { unsafe EVP_MD_CTX_free(context) }
            guard unsafe EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil) == 1 else { return nil }
            // The buffer has room for a signature, and OpenSSL is told its size.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Ed25519.signatureLength) { output, written in
                var length = Ed25519.signatureLength
                let isDone = unsafe withBytes(message.span) { start, count in
                    unsafe EVP_DigestSign(context, output.baseAddress, &length, start, count)
                }
                written = isDone == 1 ? length : 0
            }
            return bytes.count == Ed25519.signatureLength ? bytes : nil
        }
        guard let signature else { throw .failed(ErrorQueue.text()) }
        return signature
    }
}

/// A key that checks signatures by Ed25519 (RFC 8032 § 5.1).
package struct Ed25519PublicKey: Sendable, Equatable {
    /// 32 bytes.
    package let bytes: [UInt8]
    private let handle: SharedHandle

    package init(bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == Ed25519.seedLength else { throw .malformed("a public key has 32 bytes") }
        ErrorQueue.clear()
        let key = unsafe withBytes(bytes.span) { start, count in
            unsafe EVP_PKEY_new_raw_public_key_ex(nil, Ed25519.name, nil, start, count)
        }
        guard let key = unsafe key else { throw .malformed(ErrorQueue.text()) }
        try self.init(unsafe SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) })
    }

    fileprivate init(_ handle: SharedHandle) throws(CryptoError) {
        let bytes = unsafe Ed25519.bytes(of: handle) { unsafe EVP_PKEY_get_raw_public_key($0, $1, $2) }
        guard let bytes else { throw .unsupported("no Ed25519 key") }
        self.bytes = bytes
        self.handle = handle
    }

    /// Whether `signature` was made over `message` with this key's private half.
    package func isValid(signature: [UInt8], message: [UInt8]) -> Bool {
        guard signature.count == Ed25519.signatureLength else { return false }
        // A refused signature leaves its reason in the thread's queue.
        defer { ErrorQueue.clear() }
        return unsafe handle.read { key in
            guard let context = unsafe EVP_MD_CTX_new() else { return false }
            defer { unsafe EVP_MD_CTX_free(context) }
            guard unsafe EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1 else { return false }
            return unsafe withBytes(signature.span) { signatureStart, signatureCount in
                unsafe withBytes(message.span) { start, count in
                    unsafe EVP_DigestVerify(context, signatureStart, signatureCount, start, count) == 1
                }
            }
        }
    }

    package static func == (left: Ed25519PublicKey, right: Ed25519PublicKey) -> Bool { left.bytes == right.bytes }
}

private enum Ed25519 {
    static let name = "ED25519"
    /// Of a public key, too.
    static let seedLength = 32
    static let signatureLength = 64

    /// One of a key's halves, as 32 bytes; nil for a key of another kind.
    static func bytes(
        of handle: SharedHandle,
        _ get: (OpaquePointer, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>) -> Int32
    ) -> [UInt8]? {
        let bytes = unsafe handle.read { key in
            // The buffer has room for a half, and OpenSSL is told its size.
            unsafe [UInt8](unsafeUninitializedCapacity: seedLength) { output, written in
                var length = seedLength
                let isDone = unsafe get(key, output.baseAddress, &length)
                written = isDone == 1 ? length : 0
            }
        }
        ErrorQueue.clear()
        return bytes.count == seedLength ? bytes : nil
    }
}
