package import Crypto
import Dispatch
import Synchronization

/// Hashes passwords one after the other, on a thread that answers nobody else: each takes 19 MiB and tens of milliseconds,
/// and who knows no password can ask for as many as they like.
package final class PasswordDesk: Sendable {
    /// How many may wait: about a second's work.
    package static let waitingMax = 16
    /// Shorter passwords are guessed too soon (NIST SP 800-63B § 5.1.1.2 asks for 8; one that is alone deserves more).
    package static let lengthMin = 12

    private let queue = DispatchQueue(label: "assay.passwords")
    private let waiting = Mutex(0)
    /// What the password of nobody is compared with, so that a name that there is not takes as long.
    private let nobody: PasswordHash?

    package init() { nobody = try? PasswordHash(of: SecureRandom.bytes(32)) }

    /// - Returns: whether the password fits; `nil` when too many wait.
    package func fits(_ password: String, _ hash: PasswordHash?) async -> Bool? {
        guard let candidate = hash ?? nobody else { return nil }
        return await run { candidate.fits(Array(password.utf8)) && hash != nil }
    }

    /// - Returns: `nil` when too many wait, or there is no memory.
    package func hash(_ password: String) async -> PasswordHash? {
        await run { try? PasswordHash(of: Array(password.utf8)) } ?? nil
    }

    /// Why a password is none that we take; `nil` when it will do.
    package static func fault(_ password: String, of name: String) -> String? {
        let length = password.unicodeScalars.count
        if length < lengthMin { return "A password has at least \(lengthMin) characters." }
        if password.utf8.count > PasswordHash.passwordBytesMax {
            return "A password has at most \(PasswordHash.passwordBytesMax) bytes."
        }
        if password.utf8.elementsEqual(name.utf8) { return "The name is no password." }
        return nil
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
        let hasRoom = waiting.withLock { waiting in
            guard waiting < Self.waitingMax else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else { return nil }
        let value = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
        waiting.withLock { $0 -= 1 }
        return value
    }
}
