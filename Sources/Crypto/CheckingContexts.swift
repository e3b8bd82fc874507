import COpenSSL
import Synchronization

/// Keeps the contexts in which one key checks signatures: making one costs a twentieth of a check on P-256, and a fifth
/// of one by RSA.
///
/// OpenSSL wants a context to be used by one thread at a time. Each is owned either by the list of idle ones or by the
/// one check that took it out.
final class CheckingContexts: Sendable {
    /// What a context was set up for.
    enum Purpose: Int, CaseIterable, Sendable {
        case ecdsa, rsaSHA1, rsaSHA256, rsaSHA384

        static func rsa(_ digest: Digest) -> Purpose {
            switch digest {
            case .sha1: .rsaSHA1
            case .sha256: .rsaSHA256
            case .sha384: .rsaSHA384
            }
        }

        var digest: Digest? {
            switch self {
            case .ecdsa: nil
            case .rsaSHA1: .sha1
            case .rsaSHA256: .sha256
            case .rsaSHA384: .sha384
            }
        }
    }

    /// As many threads as may check signatures by one key at once; more contexts than that are not kept.
    private static let idleMax = 64

    private let key: SharedHandle
    /// For each purpose, by its number, the addresses: the pointers themselves may not pass through a mutex.
    private let idle = Mutex([[UInt]](repeating: [], count: Purpose.allCases.count))

    init(_ key: SharedHandle) {
        self.key = key
    }

    deinit {
        for address in idle.withLock({ $0.flatMap(\.self) }) {
            // Nobody else has the address: it was in the list.
            unsafe EVP_PKEY_CTX_free(OpaquePointer(bitPattern: address))
        }
    }

    /// Runs one check; true when it answers 1. After any other answer the context is not used again.
    func check(_ purpose: Purpose, _ body: (OpaquePointer) -> Int32) -> Bool {
        let kept = unsafe idle.withLock { $0[purpose.rawValue].popLast() }.flatMap {
            unsafe OpaquePointer(bitPattern: $0)
        }
        guard let context = unsafe kept ?? made(for: purpose) else {
            ErrorQueue.clear()
            return false
        }
        guard unsafe body(context) == 1 else {
            unsafe EVP_PKEY_CTX_free(context)
            // A refused signature leaves its reason in the thread's queue.
            ErrorQueue.clear()
            return false
        }
        let address = UInt(bitPattern: context)
        let isKept = idle.withLock { idle in
            guard idle[purpose.rawValue].count < Self.idleMax else { return false }
            idle[purpose.rawValue].append(address)
            return true
        }
        if !isKept { unsafe EVP_PKEY_CTX_free(context) }
        return true
    }

    /// A context holds a reference to its key.
    private func made(for purpose: Purpose) -> OpaquePointer? {
        guard let context = unsafe key.read({ unsafe EVP_PKEY_CTX_new($0, nil) }) else { return nil }
        guard unsafe isPrepared(context, purpose) else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    private func isPrepared(_ context: OpaquePointer, _ purpose: Purpose) -> Bool {
        guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
        guard let digest = purpose.digest else { return true }
        return unsafe digest.method.read { method in
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, method) == 1
        }
    }
}
