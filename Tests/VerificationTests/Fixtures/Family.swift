import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Verification

/// The formats of proof by what certificates stand behind them, and what each flaw in those is refused for.
enum Family: String, CaseIterable, Sendable {
    case jws, receiptSHA1, receiptSHA256, oldReceiptTwo, oldReceiptThree, oldReceiptFour

    var signing: SigningFamily {
        switch self {
        case .jws: .jws
        case .receiptSHA1, .oldReceiptThree: .receiptSHA1
        case .receiptSHA256, .oldReceiptFour: .receiptSHA256
        case .oldReceiptTwo: .oldReceipt
        }
    }

    private var oldVersion: OldReceiptSigner.Version? {
        switch self {
        case .oldReceiptTwo: .two
        case .oldReceiptThree: .three
        case .oldReceiptFour: .four
        default: nil
        }
    }

    /// Whether a proof carries all the certificates above its signer's.
    var isSelfContained: Bool { oldVersion == nil }

    /// Whether a proof says when it was signed. An iOS 6 receipt says when something was bought: it was not signed before.
    var saysWhenItWasSigned: Bool { oldVersion == nil }

    /// An iOS 6 receipt can hold no signature but RSA's.
    func canSign(_ flaw: ChainFlaw) -> Bool { oldVersion == nil || flaw != .leafOfOtherKind }

    /// A proof that is right but for its chain.
    func proof(by chain: SigningChain, at moment: Timestamp = Sample.moment) throws -> [UInt8] {
        var transaction = Sample.transaction()
        transaction.purchasedAt = moment
        transaction.signedAt = moment
        let app = TestAuthority.app()
        if let oldVersion { return try OldReceiptSigner(chain, version: oldVersion).sign(transaction, of: app) }
        if self == .jws { return Array(try JWSSigner(chain).sign(.transaction(transaction, of: app)).utf8) }
        let receipt = SimulatedReceipt(app: app, createdAt: moment, purchases: [transaction])
        return try ReceiptSigner(chain, digest: self == .receiptSHA1 ? .sha1 : .sha256).sign(receipt)
    }

    /// Who believes the simulator. An iOS 6 receipt carries its signer's certificate alone: the operator has put what
    /// belongs above it, flawed or not, into the folder of certificates.
    func verifier(of chain: SigningChain) throws -> Verifier {
        var anchors = try TestVerifier.rootsOfBoth()
        if oldVersion != nil {
            for certificate in chain.certificates.dropFirst() {
                anchors.addIntermediate(try Certificate(der: certificate))
            }
        }
        return Verifier(anchors: anchors)
    }

    var table: [ChainFlaw: Reason] {
        var table = Family.common
        if self == .jws {
            table.merge(Family.inJWS) { $1 }
        } else {
            table.merge(Family.inReceipts) { $1 }
            if oldVersion != nil { table.merge(Family.inOldReceipts) { $1 } }
        }
        return table.filter { $0.key.applies(to: signing) && canSign($0.key) }
    }

    private static let common: [ChainFlaw: Reason] = [
        .leafWithoutMarker: .leafMarkerMissing,
        .leafExpired: .certificateNotValid,
        .leafNotYetValid: .certificateNotValid,
        .leafMayNotSign: .keyUsage,
        .leafWithUnknownCriticalExtension: .certificateExtension,
        .leafSignedByOtherKey: .certificateSignature,
        .leafOfOtherKind: .keyType,
        .contentSignedByOtherKey: .signature,
        .intermediateWithoutMarker: .intermediateMarkerMissing,
        .intermediateExpired: .certificateNotValid,
        .intermediateNotYetValid: .certificateNotValid,
        .intermediateNotCA: .intermediateNotCA,
        .intermediateMayNotIssue: .keyUsage,
        .intermediateWithUnknownCriticalExtension: .certificateExtension,
        .intermediateSignedByOtherKey: .certificateSignature,
        .foreignChainUnderRightRoot: .certificateSignature,
        .foreignLeafOnRightChain: .certificateSignature,
    ]

    private static let inJWS: [ChainFlaw: Reason] = [
        .leafNamesOtherIssuer: .issuerMismatch,
        .leafSignedOverSHA1: .algorithmNotAllowed,
        .leafOnOtherCurve: .keyType,
        .intermediateNamesOtherIssuer: .issuerMismatch,
        .leafUsedAsIssuer: .untrustedRoot,
        .pathTooLong: .chainLength,
        .foreignRoot: .untrustedRoot,
        .foreignRootSent: .untrustedRoot,
        .reordered: .leafIsCA,
        .reversed: .untrustedRoot,
        .noCertificates: .chainLength,
        .onlyLeaf: .chainLength,
        .withoutRoot: .chainLength,
        .fourCertificates: .chainLength,
        .leafTwice: .issuerMismatch,
    ]

    private static let inReceipts: [ChainFlaw: Reason] = [
        .leafNamesOtherIssuer: .untrustedRoot,
        // Whoever could forge SHA-1 would sign a receipt of the SHA-1 era.
        .leafSignedOverSHA1: .addedRoot,
        .intermediateNamesOtherIssuer: .untrustedRoot,
        // Its name is that of its issuer.
        .leafUsedAsIssuer: .selfSigned,
        .pathTooLong: .untrustedRoot,
        // The names are right, so the pinned root's key is tried, and did not sign.
        .foreignRoot: .certificateSignature,
        .foreignRootSent: .addedRoot,
        .reordered: .addedRoot,
        .reversed: .addedRoot,
        .noCertificates: .signerMissing,
        .onlyLeaf: .untrustedRoot,
        .withoutRoot: .addedRoot,
        .fourCertificates: .addedRoot,
        .leafTwice: .untrustedRoot,
    ]

    private static let inOldReceipts: [ChainFlaw: Reason] = [
        // When it was signed it does not say: it may have been later than the purchase.
        .leafNotYetValid: .addedRoot,
        .intermediateNotYetValid: .addedRoot,
        .leafUsedAsIssuer: .untrustedRoot,
        // Only the first certificate is sent: an intermediate or a root, whose key did not sign.
        .reordered: .signature,
        .reversed: .signature,
        .noCertificates: .signatureBlob,
    ]
}
