package import Crypto
import Encoding

/// The roots that a chain may end in, and the intermediates that are known without the proof carrying them.
///
/// Apple's are built in and compared byte by byte. What an operator adds is kept apart: a chain that ends there is
/// `test_signed`, whatever the message says of itself.
package struct TrustAnchors: Sendable {
    private(set) var roots: [Root] = []
    private(set) var intermediates: [Certificate] = []
    /// Certificates of StoreKit Testing in Xcode, self-signed leaves that the operator exported.
    private(set) var xcode: [Certificate] = []

    struct Root: Sendable {
        let certificate: Certificate
        let voucher: Voucher
    }

    /// Apple's roots and the intermediates that Apple publishes, as built into this binary.
    ///
    /// Source: <https://www.apple.com/certificateauthority/>, as the Swift toolchain ships them.
    package static func apple() throws(CryptoError) -> TrustAnchors {
        var anchors = TrustAnchors()
        for der in [
            PackageResources.AppleRootCA_der, PackageResources.AppleRootCAG2_der, PackageResources.AppleRootCAG3_der,
            PackageResources.AppleComputerRootCA_der,
        ] {
            anchors.roots.append(Root(certificate: try Certificate(der: der), voucher: .apple))
        }
        for der in [
            PackageResources.AppleWWDRCAG2_der, PackageResources.AppleWWDRCAG3_der, PackageResources.AppleWWDRCAG4_der,
            PackageResources.AppleWWDRCAG5_der, PackageResources.AppleWWDRCAG6_der, PackageResources.AppleWWDRCAG7_der,
            PackageResources.AppleWWDRCAG8_der,
        ] {
            anchors.intermediates.append(try Certificate(der: der))
        }
        return anchors
    }

    /// Adds the operator's own: one that names itself as its issuer and says `StoreKit` is taken for Xcode's, every
    /// other becomes a root. One of Apple's own roots stays Apple's.
    package mutating func addRoot(_ certificate: Certificate) {
        guard root(equalTo: certificate.der) == nil, !xcode.contains(where: { $0.der == certificate.der }) else {
            return
        }
        if TrustAnchors.isXcode(certificate) {
            xcode.append(certificate)
        } else {
            roots.append(Root(certificate: certificate, voucher: .addedRoot))
        }
    }

    /// Adds an intermediate that proofs may need and do not carry, such as those of iOS 6 receipts. It is trusted no
    /// further than a root vouches for it.
    package mutating func addIntermediate(_ certificate: Certificate) {
        guard !intermediates.contains(where: { $0.der == certificate.der }) else { return }
        intermediates.append(certificate)
    }

    func root(equalTo der: [UInt8]) -> Root? {
        roots.first { $0.certificate.der == der }
    }

    /// One of the roots and intermediates, if it is one of them byte by byte.
    func certificate(equalTo der: ArraySlice<UInt8>) -> Certificate? {
        func isEqual(_ certificate: Certificate) -> Bool { ByteSearch.areEqual(certificate.der.span, der.span) }
        return intermediates.first(where: isEqual) ?? roots.first { isEqual($0.certificate) }?.certificate
    }

    func isTrustedXcode(_ certificate: Certificate) -> Bool {
        xcode.contains { $0.der == certificate.der }
    }

    /// StoreKit Testing's certificates name themselves; the receipt signer of 2020 says only `StoreKit`.
    private static func isXcode(_ certificate: Certificate) -> Bool {
        certificate.isSelfIssued && certificate.fields.subject.contains("StoreKit")
    }
}
