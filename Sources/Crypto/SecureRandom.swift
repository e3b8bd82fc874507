import COpenSSL

/// Bytes that nobody can guess, from the system's generator.
package enum SecureRandom {
    /// Stops the program rather than go on with bytes that could be guessed.
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= bytesMax, "0 to \(bytesMax) random bytes at once")
        // The buffer has room for what is asked for.
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, written in
            let isDone = unsafe RAND_bytes(output.baseAddress, Int32(count))
            precondition(count == 0 || isDone == 1, "the system gave no random bytes")
            written = count
        }
    }

    /// Keys and serial numbers are far shorter.
    private static let bytesMax = 1 << 20
}
