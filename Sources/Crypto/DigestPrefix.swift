import COpenSSL

/// The state of a hash function after some bytes, from which many continuations can be hashed.
///
/// The header of a signed text is four fifths of it and always the same: hashing it once leaves little to do for each.
package struct DigestPrefix: Sendable {
    private let state: SharedHandle
    private let digest: Digest

    package init(_ digest: Digest, of bytes: Span<UInt8>) {
        guard let state = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        let isDone = unsafe digest.method.read { method in
            unsafe EVP_DigestInit_ex2(state, method, nil) == 1
                && withBytes(bytes) { start, count in unsafe EVP_DigestUpdate(state, start, count) } == 1
        }
        precondition(isDone, "OpenSSL refused to hash")
        unsafe self.state = SharedHandle(owning: state) { unsafe EVP_MD_CTX_free($0) }
        self.digest = digest
    }

    /// The hash of the prefix followed by `rest`. Many threads may ask at once: each works on a copy of the state.
    package func hash(appending rest: Span<UInt8>) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: digest.length)
        var span = output.mutableSpan
        hash(appending: rest, into: &span)
        return output
    }

    /// The same, written to where there is room for exactly as many bytes as a hash has.
    package func hash(appending rest: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        precondition(output.count == digest.length, "room for one hash")
        guard let copy = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { unsafe EVP_MD_CTX_free(copy) }
        let isCopied = unsafe state.read { unsafe EVP_MD_CTX_copy_ex(copy, $0) }
        let isUpdated = unsafe withBytes(rest) { start, count in unsafe EVP_DigestUpdate(copy, start, count) }
        let isDone = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe EVP_DigestFinal_ex(copy, output.baseAddress, nil)
        }
        precondition(isCopied == 1 && isUpdated == 1 && isDone == 1, "OpenSSL refused to hash")
    }
}
