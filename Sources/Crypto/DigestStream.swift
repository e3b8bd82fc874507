import COpenSSL

/// A hash of bytes that come one part after the other, such as a file's.
@safe package struct DigestStream: ~Copyable {
    private let state: OpaquePointer
    private let digest: Digest

    package init(_ digest: Digest) {
        guard let state = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        let isDone = unsafe digest.method.read { method in unsafe EVP_DigestInit_ex2(state, method, nil) }
        precondition(isDone == 1, "OpenSSL refused to hash")
        unsafe self.state = state
        self.digest = digest
    }

    deinit { unsafe EVP_MD_CTX_free(state) }

    package mutating func update(_ bytes: Span<UInt8>) {
        let isDone = unsafe withBytes(bytes) { start, count in unsafe EVP_DigestUpdate(state, start, count) }
        precondition(isDone == 1, "OpenSSL refused to hash")
    }

    /// The hash of all of them.
    package consuming func hash() -> [UInt8] {
        // The output has room for exactly what this method writes.
        unsafe [UInt8](unsafeUninitializedCapacity: digest.length) { output, written in
            let isDone = unsafe EVP_DigestFinal_ex(state, output.baseAddress, nil)
            precondition(isDone == 1, "OpenSSL refused to hash")
            written = digest.length
        }
    }
}
