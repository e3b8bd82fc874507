import COpenSSL

/// Private keys of any kind as PEM text.
enum PrivateKeyText {
    /// An RSA key of 16 384 bits is less.
    private static let bytesMax = 65_536

    /// Reads PKCS #8, and the older forms that OpenSSL knows. Encrypted keys are refused.
    static func read(_ pem: [UInt8]) throws(CryptoError) -> SharedHandle {
        ErrorQueue.clear()
        guard pem.count <= bytesMax else { throw .malformed("longer than any key") }
        let key = unsafe withBytes(pem.span) { start, count -> OpaquePointer? in
            // The memory stays where it is for as long as the reader lives.
            guard let reader = unsafe BIO_new_mem_buf(start, Int32(count)) else { return nil }
            defer { unsafe BIO_free(reader) }
            // Without a callback of our own OpenSSL would ask for a password on the terminal.
            return unsafe PEM_read_bio_PrivateKey(reader, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else { throw .malformed(ErrorQueue.text()) }
        return unsafe SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) }
    }

    /// PKCS #8, not encrypted.
    static func write(_ handle: SharedHandle) throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        guard let writer = unsafe BIO_new(BIO_s_mem()) else { throw .failed(ErrorQueue.text()) }
        defer { unsafe BIO_free(writer) }
        let isWritten = unsafe handle.read { key in
            unsafe PEM_write_bio_PKCS8PrivateKey(writer, key, nil, nil, 0, nil, nil)
        }
        guard isWritten == 1 else { throw .failed(ErrorQueue.text()) }
        let count = Int(unsafe BIO_ctrl_pending(writer))
        // The buffer has room for all that waits in the writer.
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, written in
            written = max(0, Int(unsafe BIO_read(writer, output.baseAddress, Int32(clamping: count))))
        }
    }
}
