import Crypto
import PurchaseModel

/// Certificates as they come with proofs: one, and three of them as a chain. OpenSSL takes them apart, our code reads their
/// fields. The code that judges chains is compiled into this module: it is nobody else's to call.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificates(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = certificates(in: fuzzInput(start, count))
    let read = parts.compactMap { try? Certificate(fromProof: $0) }
    for certificate in read { check(certificate) }
    if let certificate = read.first { _ = try? XcodeCertificate.checked(certificate, among: read) }
    guard read.count == 3 else { return 0 }
    for profile in [ChainProfile.jws, .receipt, .oldReceipt] { judge(read, by: profile) }
    return 0
}

/// One behind the other. What has no length that holds is one by itself.
private func certificates(in bytes: [UInt8]) -> [[UInt8]] {
    var (parts, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], bytes[...])
    while parts.count < 2, rest.starts(with: [0x30, 0x82]), rest.count > 4 {
        let length = 4 + Int(rest[rest.startIndex + 2]) << 8 + Int(rest[rest.startIndex + 3])
        guard length < rest.count else { break }
        parts.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return parts + [Array(rest)]
}

private func check(_ certificate: Certificate) {
    let facts = CertificateFacts(certificate)
    for name in [facts.subject, facts.issuer] {
        precondition(name.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a name that can do more than be read")
    }
    precondition(!facts.serial.isEmpty, "a certificate without a number")
    precondition(certificate.fields.pathLength ?? 0 >= 0, "a path that is shorter than nothing")
    precondition(Set(certificate.fields.extensions.map(\.oid)).count == certificate.fields.extensions.count, "twice")
    let key = certificate.publicKey
    precondition((try? PublicKey(der: key.der)) == key, "a key that was not read as it was written")
    precondition((try? Certificate(der: certificate.der)) == certificate, "a certificate that can be read only once")
}

/// What makes a chain has been signed from its root down.
private func judge(_ certificates: [Certificate], by profile: ChainProfile) {
    var anchors = TrustAnchors()
    anchors.addRoot(certificates[2])
    guard let root = anchors.root(equalTo: certificates[2].der) else { return }
    let builder = ChainBuilder(anchors: anchors, profile: profile) { _ in }
    guard let chain = try? builder.chain(certificates[0], certificates[1], root) else { return }
    precondition(chain.leaf.isSigned(by: chain.intermediate), "a leaf that nobody signed")
    precondition(chain.intermediate.isSigned(by: chain.root), "an intermediate that nobody signed")
    precondition(chain.leaf.hasExtension(profile.leafMarker), "a leaf without its marker")
    precondition(chain.voucher == .addedRoot, "Apple vouches for nobody here")
    _ = [chain].valid(at: chain.validFrom)
}

/// None of Apple's: they are built in, and no input.
enum PackageResources {
    static let AppleRootCA_der: [UInt8] = []
    static let AppleRootCAG2_der: [UInt8] = []
    static let AppleRootCAG3_der: [UInt8] = []
    static let AppleComputerRootCA_der: [UInt8] = []
    static let AppleWWDRCAG2_der: [UInt8] = []
    static let AppleWWDRCAG3_der: [UInt8] = []
    static let AppleWWDRCAG4_der: [UInt8] = []
    static let AppleWWDRCAG5_der: [UInt8] = []
    static let AppleWWDRCAG6_der: [UInt8] = []
    static let AppleWWDRCAG7_der: [UInt8] = []
    static let AppleWWDRCAG8_der: [UInt8] = []
}
