import COpenSSL

/// Cryptographic hash functions. SHA-1 is here because receipts that people hold are signed with it.
package enum Digest: Int, Sendable, CaseIterable {
    case sha1, sha256, sha384

    /// In bytes.
    package var length: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        }
    }

    /// The hash of the bytes; they are not copied.
    package func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        let length = self.length
        return unsafe method.read { method in
            unsafe withBytes(bytes) { start, count in
                // The output has room for exactly what this method writes.
                unsafe [UInt8](unsafeUninitializedCapacity: length) { output, written in
                    let isDone = unsafe EVP_Digest(start, count, output.baseAddress, nil, method, nil)
                    precondition(isDone == 1, "OpenSSL refused to hash")
                    written = length
                }
            }
        }
    }

    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { Digest.sha1.hash(bytes.span) }
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { Digest.sha256.hash(bytes.span) }
    package static func sha384(_ bytes: [UInt8]) -> [UInt8] { Digest.sha384.hash(bytes.span) }

    package static func sha1(_ bytes: Span<UInt8>) -> [UInt8] { Digest.sha1.hash(bytes) }
    package static func sha256(_ bytes: Span<UInt8>) -> [UInt8] { Digest.sha256.hash(bytes) }
    package static func sha384(_ bytes: Span<UInt8>) -> [UInt8] { Digest.sha384.hash(bytes) }

    /// OpenSSL's method. Fetching one costs as much as hashing a short text, so each is fetched once.
    var method: SharedHandle {
        switch self {
        case .sha1: Digest.sha1Method
        case .sha256: Digest.sha256Method
        case .sha384: Digest.sha384Method
        }
    }

    private static let sha1Method = fetch("SHA1")
    private static let sha256Method = fetch("SHA256")
    private static let sha384Method = fetch("SHA384")

    private static func fetch(_ name: String) -> SharedHandle {
        guard let method = unsafe EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("this OpenSSL has no \(name)")
        }
        return unsafe SharedHandle(owning: method) { unsafe EVP_MD_free($0) }
    }
}
