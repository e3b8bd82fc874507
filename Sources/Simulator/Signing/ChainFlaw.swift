/// One thing that is wrong with a chain of certificates, and nothing else: the rest is as Apple's.
///
/// "Expired" ends one second after the certificate's right beginning, "not yet valid" begins one second before its
/// right end: any signing date between is outside.
package enum ChainFlaw: String, Hashable, Sendable, CaseIterable {
    case leafWithoutMarker, leafExpired, leafNotYetValid
    /// The leaf's key may encipher and not sign.
    case leafMayNotSign
    case leafWithUnknownCriticalExtension
    /// The leaf says that somebody else issued it; the signature is the intermediate's.
    case leafNamesOtherIssuer
    /// The leaf's certificate is signed by a key that is not the intermediate's.
    case leafSignedByOtherKey
    /// The leaf's certificate is signed over SHA-1.
    case leafSignedOverSHA1
    /// P-384 where P-256 belongs. Only for StoreKit 2.
    case leafOnOtherCurve
    /// RSA where a curve belongs, or the other way round.
    case leafOfOtherKind
    /// The content is signed by a key that is not the leaf's.
    case contentSignedByOtherKey

    case intermediateWithoutMarker, intermediateExpired, intermediateNotYetValid
    /// Basic constraints say that it is no authority.
    case intermediateNotCA
    /// Its key usage leaves out the signing of certificates.
    case intermediateMayNotIssue
    case intermediateWithUnknownCriticalExtension
    case intermediateNamesOtherIssuer
    case intermediateSignedByOtherKey

    /// The right leaf issued another certificate with the marker, and that one signs.
    case leafUsedAsIssuer
    /// An authority below the intermediate, whose path length is 0, issued the leaf: four certificates.
    case pathTooLong

    /// All three certificates are somebody else's, under the same names.
    case foreignRoot
    /// Right leaf and intermediate; the root that is sent is somebody else's, under the same name.
    case foreignRootSent
    /// Somebody else's leaf and intermediate; the root that is sent is the right one.
    case foreignChainUnderRightRoot
    /// Somebody else's leaf before the right intermediate and the right root.
    case foreignLeafOnRightChain

    /// Intermediate, leaf, root.
    case reordered
    /// Root, intermediate, leaf.
    case reversed
    case noCertificates, onlyLeaf, withoutRoot
    /// The root stands twice at the end.
    case fourCertificates
    /// The leaf stands twice, the intermediate is missing.
    case leafTwice

    /// Whether this is a flaw at all in this family: SHA-1 is right where Apple used it.
    package func applies(to family: SigningFamily) -> Bool {
        switch self {
        case .leafSignedOverSHA1: family == .jws || family == .receiptSHA256
        case .leafOnOtherCurve: family == .jws
        default: true
        }
    }
}
