import Crypto

/// Everybody in the simulator's authority who has a key and a certificate. The raw value is the name of its files.
package enum AuthorityMember: String, Hashable, Sendable, CaseIterable {
    case jwsRoot = "jws-root"
    case jwsIntermediate = "jws-intermediate"
    case jwsLeaf = "jws-leaf"
    /// Above all receipts, as Apple's root of 2006 is.
    case receiptRoot = "receipt-root"
    case sha1Intermediate = "receipt-sha1-intermediate"
    /// Signs app receipts of the SHA-1 era and iOS 6 receipts of version 3.
    case sha1Leaf = "receipt-sha1-leaf"
    case sha256Intermediate = "receipt-sha256-intermediate"
    /// Signs app receipts of the SHA-256 era and iOS 6 receipts of version 4.
    case sha256Leaf = "receipt-sha256-leaf"
    case oldIntermediate = "old-receipt-intermediate"
    /// Signs iOS 6 receipts of version 2.
    case oldLeaf = "old-receipt-leaf"
    /// What Xcode makes on each developer's machine for StoreKit 2.
    case xcodeJWS = "xcode-jws"
    /// What Xcode signs local app receipts with.
    case xcodeReceipt = "xcode-receipt"

    /// Who signed this member's certificate; itself for one that is self-signed.
    package var issuer: AuthorityMember {
        switch self {
        case .jwsRoot, .jwsIntermediate: .jwsRoot
        case .jwsLeaf: .jwsIntermediate
        case .receiptRoot, .sha1Intermediate, .sha256Intermediate, .oldIntermediate: .receiptRoot
        case .sha1Leaf: .sha1Intermediate
        case .sha256Leaf: .sha256Intermediate
        case .oldLeaf: .oldIntermediate
        case .xcodeJWS: .xcodeJWS
        case .xcodeReceipt: .xcodeReceipt
        }
    }
}

/// The three certificates that stand behind one kind of proof.
package enum SigningFamily: Hashable, Sendable, CaseIterable {
    /// StoreKit 2: elliptic curves throughout.
    case jws
    /// App receipts since 2023.
    case receiptSHA256
    /// App receipts until 2024.
    case receiptSHA1
    /// iOS 6 receipts of version 2.
    case oldReceipt

    package var root: AuthorityMember { self == .jws ? .jwsRoot : .receiptRoot }

    package var intermediate: AuthorityMember { leaf.issuer }

    package var leaf: AuthorityMember {
        switch self {
        case .jws: .jwsLeaf
        case .receiptSHA256: .sha256Leaf
        case .receiptSHA1: .sha1Leaf
        case .oldReceipt: .oldLeaf
        }
    }
}
