import AppleFormats
import COpenSSL
import Crypto

/// OpenSSL and nothing else: what a check of a signature costs however little is done around it.
///
/// It is safe because it owns both objects, frees them at its end, and never hands them out.
@safe final class RawSignature {
    private let key: OpaquePointer
    private let context: OpaquePointer
    private let method = unsafe EVP_sha256()
    private let signature: [UInt8]
    private let message: [UInt8]
    private let hash: [UInt8]

    /// The signature is as OpenSSL wants it: DER for a key on a curve.
    init(_ publicKey: PublicKey, signature: [UInt8], message: [UInt8]) throws {
        let der = publicKey.der
        let key = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let key = unsafe key, let context = unsafe EVP_PKEY_CTX_new(key, nil),
            unsafe EVP_PKEY_verify_init(context) == 1,
            unsafe EVP_PKEY_is_a(key, "RSA") == 0
                || (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                    && EVP_PKEY_CTX_set_signature_md(context, method) == 1)
        else { throw BenchmarkFailure("OpenSSL does not take the key") }
        unsafe self.key = key
        unsafe self.context = context
        self.signature = signature
        self.message = message
        hash = Digest.sha256(message)
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
        unsafe EVP_PKEY_free(key)
    }

    /// Checks the signature over the hash, which was made before.
    func check() throws {
        guard unsafe EVP_PKEY_verify(context, signature, signature.count, hash, hash.count) == 1 else {
            throw BenchmarkFailure("a good signature was refused")
        }
    }

    /// Hashes the message and checks the signature.
    func hashAndCheck() throws {
        var hash: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let isGood = unsafe withUnsafeMutableBytes(of: &hash) { bytes -> Bool in
            let output = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe EVP_Digest(message, message.count, output, nil, method, nil) == 1
                && EVP_PKEY_verify(context, signature, signature.count, output, 32) == 1
        }
        guard isGood else { throw BenchmarkFailure("a good signature was refused") }
    }
}

extension RawSignature {
    /// Takes a StoreKit 2 token apart.
    convenience init(_ publicKey: PublicKey, token: [UInt8]) throws {
        let jws = try CompactJWS(token)
        let raw = try jws.signature()
        guard let pair = unsafe ECDSA_SIG_new() else { throw BenchmarkFailure("out of memory") }
        defer { unsafe ECDSA_SIG_free(pair) }
        // The pair owns both numbers.
        guard unsafe ECDSA_SIG_set0(pair, BN_bin2bn(raw, 32, nil), BN_bin2bn(Array(raw[32...]), 32, nil)) == 1 else {
            throw BenchmarkFailure("OpenSSL does not take the signature")
        }
        let der = unsafe [UInt8](unsafeUninitializedCapacity: 80) { buffer, count in
            var cursor = buffer.baseAddress
            count = Int(unsafe i2d_ECDSA_SIG(pair, &cursor))
        }
        try self.init(publicKey, signature: der, message: Array(jws.signingInput))
    }

    /// Takes an app receipt apart.
    convenience init(_ publicKey: PublicKey, receipt: [UInt8]) throws {
        let envelope = try SignedData(receipt)
        guard let signer = envelope.signers.first else { throw BenchmarkFailure("a receipt without a signer") }
        try self.init(publicKey, signature: Array(signer.signature), message: Array(envelope.content))
    }
}
