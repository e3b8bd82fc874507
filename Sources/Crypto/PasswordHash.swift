import CArgon2

/// A password as it is kept: argon2id in the text form that names its own parameters, so that they can grow later.
package struct PasswordHash: Hashable, Sendable {
    /// OWASP's first choice (Password Storage Cheat Sheet, "Argon2id", read on 2026-11-22): 19 MiB, 2 passes, 1 lane.
    private static let kibibytes: UInt32 = 19_456
    private static let passes: UInt32 = 2
    private static let lanes: UInt32 = 1
    private static let saltLength = 16
    private static let hashLength = 32
    /// Far above what a person types; what is hashed has a bound.
    package static let passwordBytesMax = 1_024

    /// Such as `$argon2id$v=19$m=19456,t=2,p=1$…$…`.
    package let text: String

    /// One that was kept. What is none of ours fits no password.
    package init(kept text: String) { self.text = text }

    /// Takes some 19 MiB and tens of milliseconds of a processor: call it where few run at once.
    ///
    /// - Parameters:
    ///   - password: its bytes; at most ``passwordBytesMax``.
    ///   - salt: 16 random bytes; the system's, but for a test.
    /// - Throws: ``CryptoError/malformed(_:)`` for a password that is too long, ``CryptoError/failed(_:)`` without memory.
    package init(of password: [UInt8], salt: [UInt8] = SecureRandom.bytes(16)) throws(CryptoError) {
        guard password.count <= Self.passwordBytesMax else { throw .malformed("a password has at most 1,024 bytes") }
        guard salt.count == Self.saltLength else { throw .malformed("a salt has 16 bytes") }
        let room = argon2_encodedlen(
            Self.passes,
            Self.kibibytes,
            Self.lanes,
            UInt32(Self.saltLength),
            UInt32(Self.hashLength),
            Argon2_id
        )
        var code = ARGON2_OK.rawValue
        // The output has the room that the library asked for; it ends the text with a zero byte, which is not kept.
        let text = unsafe [UInt8](unsafeUninitializedCapacity: room) { output, written in
            code = unsafe withBytes(password.span) { start, count in
                unsafe withBytes(salt.span) { saltStart, saltCount in
                    unsafe output.withMemoryRebound(to: CChar.self) { output in
                        unsafe argon2id_hash_encoded(
                            Self.passes,
                            Self.kibibytes,
                            Self.lanes,
                            start,
                            count,
                            saltStart,
                            saltCount,
                            Self.hashLength,
                            output.baseAddress,
                            room
                        )
                    }
                }
            }
            written = code == ARGON2_OK.rawValue ? unsafe output.firstIndex(of: 0) ?? room : 0
        }
        guard code == ARGON2_OK.rawValue else { throw .failed("argon2 refused with \(code)") }
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// Whether this is the password; costs what making the hash cost.
    package func fits(_ password: [UInt8]) -> Bool {
        guard password.count <= Self.passwordBytesMax, isOurs else { return false }
        // The text is copied with a zero byte at its end, as the library reads it.
        return unsafe withBytes(password.span) { start, count in
            unsafe text.withCString { unsafe argon2id_verify($0, start, count) == ARGON2_OK.rawValue }
        }
    }

    /// Whether a new hash of the same password would be made otherwise.
    package var isOutdated: Bool {
        !text.utf8.starts(with: "$argon2id$v=19$m=\(Self.kibibytes),t=\(Self.passes),p=\(Self.lanes)$".utf8)
    }

    /// A text from elsewhere could ask for gigabytes.
    private var isOurs: Bool { !isOutdated && text.utf8.count <= 255 && !text.utf8.contains(0) }
}
