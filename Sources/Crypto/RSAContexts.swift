import COpenSSL
import Synchronization

/// Keeps the contexts in which one RSA key checks signatures: making one costs a fifth of a check.
///
/// OpenSSL wants a context to be used by one thread at a time. Each is owned either by the list of idle ones or by the
/// one check that took it out.
final class RSAContexts: Sendable {
    /// As many threads as may check signatures by one key at once; more contexts than that are not kept.
    private static let idleMax = 64

    private let key: SharedHandle
    /// For each digest, by its number, the addresses: the pointers themselves may not pass through a mutex.
    private let idle = Mutex([[UInt]](repeating: [], count: Digest.allCases.count))

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
    func check(_ digest: Digest, _ body: (OpaquePointer) -> Int32) -> Bool {
        let kept = unsafe idle.withLock { $0[digest.rawValue].popLast() }.flatMap {
            unsafe OpaquePointer(bitPattern: $0)
        }
        guard let context = unsafe kept ?? made(for: digest) else {
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
            guard idle[digest.rawValue].count < Self.idleMax else { return false }
            idle[digest.rawValue].append(address)
            return true
        }
        if !isKept { unsafe EVP_PKEY_CTX_free(context) }
        return true
    }

    /// A context holds a reference to its key.
    private func made(for digest: Digest) -> OpaquePointer? {
        guard let context = unsafe key.read({ unsafe EVP_PKEY_CTX_new($0, nil) }) else { return nil }
        guard unsafe isPrepared(context, digest) else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    private func isPrepared(_ context: OpaquePointer, _ digest: Digest) -> Bool {
        guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
        return unsafe digest.method.read { method in
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, method) == 1
        }
    }
}
