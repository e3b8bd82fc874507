import Crypto
import PurchaseModel

/// StoreKit Testing signs with one certificate that it made itself, on a developer's machine: anybody could make such
/// a one. It never counts for more than a test, and for that only when the operator has added it.
enum XcodeCertificate {
    /// - Throws: ``Refusal`` when a self-signed certificate stands among others, or did not even sign itself.
    static func checked(_ certificate: Certificate, among all: [Certificate]) throws(Refusal) -> Certificate {
        // Checking with a key of the sender's choice must not cost more than with Apple's.
        switch certificate.publicKey.kind {
        case .p256, .rsa: break
        default: throw Refusal(.keyType, "the key of \(certificate.fields.subject) is of a kind that Xcode has not")
        }
        guard all.count == 1, certificate.isSigned(by: certificate.publicKey) else {
            throw Refusal(.selfSigned, "\(certificate.fields.subject) vouches for itself")
        }
        return certificate
    }

    /// A certificate that vouches for itself must not speak for the App Store.
    static func check(_ environment: StoreEnvironment?) throws(Refusal) {
        guard environment == .xcode || environment == .localTesting else {
            throw Refusal(.selfSigned, "a self-signed certificate, and the environment is not Xcode's")
        }
    }
}
