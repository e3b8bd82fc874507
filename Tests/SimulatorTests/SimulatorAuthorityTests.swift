import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct SimulatorAuthorityTests {
    @Test(arguments: SigningFamily.allCases)
    func anotherProgramVerifiesTheChain(family: SigningFamily) throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let chain = try TestAuthority.shared.chain(family).certificates
        let names = ["leaf", "intermediate", "root"]
        let paths = try zip(chain, names).map { try tool.writePEM($0, as: $1) }
        // Level 0 lets SHA-1 and RSA-1024 pass, which Apple used.
        let answer = try tool.run([
            "verify", "-x509_strict", "-auth_level", "0", "-attime", moment, "-CAfile", paths[2], "-untrusted",
            paths[1], paths[0],
        ])
        #expect(answer.isSuccess, "\(answer.text)")
    }

    @Test(arguments: [
        (AuthorityMember.jwsRoot, "id-ecPublicKey", "(384 bit)", "ecdsa-with-SHA384", "CA:TRUE\n"),
        (.jwsIntermediate, "id-ecPublicKey", "(384 bit)", "ecdsa-with-SHA384", "CA:TRUE, pathlen:0"),
        (.jwsLeaf, "id-ecPublicKey", "(256 bit)", "ecdsa-with-SHA384", "CA:FALSE"),
        (.receiptRoot, "rsaEncryption", "(2048 bit)", "sha1WithRSAEncryption", "CA:TRUE\n"),
        (.sha1Intermediate, "rsaEncryption", "(2048 bit)", "sha1WithRSAEncryption", "CA:TRUE, pathlen:0"),
        (.sha1Leaf, "rsaEncryption", "(2048 bit)", "sha1WithRSAEncryption", "CA:FALSE"),
        (.sha256Intermediate, "rsaEncryption", "(2048 bit)", "sha256WithRSAEncryption", "CA:TRUE, pathlen:0"),
        (.sha256Leaf, "rsaEncryption", "(2048 bit)", "sha256WithRSAEncryption", "CA:FALSE"),
        (.oldIntermediate, "rsaEncryption", "(2048 bit)", "sha1WithRSAEncryption", "CA:TRUE, pathlen:0"),
        (.oldLeaf, "rsaEncryption", "(1024 bit)", "sha1WithRSAEncryption", "CA:FALSE"),
        (.xcodeJWS, "id-ecPublicKey", "(256 bit)", "ecdsa-with-SHA256", "CA:FALSE"),
        (.xcodeReceipt, "rsaEncryption", "(2048 bit)", "sha256WithRSAEncryption", "CA:TRUE"),
    ])
    func anotherProgramSeesTheShape(
        member: AuthorityMember,
        key: String,
        bits: String,
        signature: String,
        constraints: String
    ) throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let path = try tool.write(try TestAuthority.shared.identity(member).certificate.der, as: "certificate.der")
        let text = try tool.run(["x509", "-inform", "DER", "-in", path, "-noout", "-text"]).text
        #expect(text.contains("Public Key Algorithm: \(key)"))
        #expect(text.contains(bits))
        #expect(text.contains("Signature Algorithm: \(signature)"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                \(constraints)"), "\(text)")
        #expect(text.contains("Not Before: Jan  1 00:00:00 2020 GMT"))
    }

    @Test(arguments: [
        (AuthorityMember.jwsLeaf, "1.2.840.113635.100.6.11.1"), (.sha1Leaf, "1.2.840.113635.100.6.11.1"),
        (.sha256Leaf, "1.2.840.113635.100.6.11.1"), (.jwsIntermediate, "1.2.840.113635.100.6.2.1"),
        (.sha1Intermediate, "1.2.840.113635.100.6.2.1"), (.sha256Intermediate, "1.2.840.113635.100.6.2.1"),
        (.oldLeaf, "1.2.840.113635.100.6.5.1"),
    ])
    func appleMarkersStandWhereAppleHasThem(member: AuthorityMember, oid: String) throws {
        let certificate = try TestAuthority.shared.identity(member).certificate
        let marker = certificate.fields.extensions.filter { $0.oid.hasPrefix("1.2.840.113635.100.6.") }
        #expect(marker == [CertificateExtension(oid: oid, isCritical: false, value: [5, 0])])
    }

    @Test(arguments: AuthorityMember.allCases)
    func noNameCanBeTakenForApples(member: AuthorityMember) throws {
        let fields = try TestAuthority.shared.identity(member).certificate.fields
        for name in [fields.subject, fields.issuer] {
            #expect(name.contains("Simulated"))
            #expect(!name.contains("Apple"))
        }
    }

    @Test func anAuthoritySurvivesItsFiles() throws {
        let files = try TestAuthority.shared.files()
        #expect(files.count == AuthorityMember.allCases.count * 2)
        let loaded = try SimulatorAuthority(files: files)
        for member in AuthorityMember.allCases {
            #expect(try loaded.identity(member).certificate == TestAuthority.shared.identity(member).certificate)
        }
        #expect(try loaded.roots() == TestAuthority.shared.roots())
        let flawed = try loaded.chain(.jws, flaw: .leafExpired)
        #expect(flawed.certificates[1...] == (try TestAuthority.shared.chain(.jws).certificates[1...]))
    }

    @Test func filesThatDoNotBelongTogetherAreRefused() throws {
        let files = try TestAuthority.shared.files()
        var missing = files
        missing["jws-leaf.pem"] = nil
        #expect(throws: SimulatorAuthority.LoadingError.missing(file: "jws-leaf.pem")) {
            try SimulatorAuthority(files: missing)
        }
        var swapped = files
        swapped["jws-leaf.pem"] = files["xcode-jws.pem"]
        #expect(throws: SimulatorAuthority.LoadingError.inconsistent(file: "jws-leaf.der")) {
            try SimulatorAuthority(files: swapped)
        }
        var unreadable = files
        unreadable["jws-leaf.der"]?.removeLast()
        #expect(throws: SimulatorAuthority.LoadingError.self) { try SimulatorAuthority(files: unreadable) }
        let other = SimulatorAuthority(
            validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        )
        var foreign = files
        foreign["jws-root.der"] = try other.identity(.jwsRoot).certificate.der
        foreign["jws-root.pem"] = try other.identity(.jwsRoot).key.pem()
        #expect(throws: SimulatorAuthority.LoadingError.self) { try SimulatorAuthority(files: foreign) }
    }

    @Test func everybodyWhoAsksAtOnceGetsTheSameKeys() async throws {
        let authority = SimulatorAuthority(
            validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        )
        let leaves = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try authority.identity(.jwsLeaf).certificate.der } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(leaves.count == 1)
    }

    @Test func leavesMayLiveShorterThanAuthorities() throws {
        let authority = SimulatorAuthority(
            validity: AuthorityValidity(
                authorities: Timestamp(seconds: 1_000_000_000)...Timestamp(seconds: 2_000_000_000),
                leaves: Timestamp(seconds: 1_500_000_000)...Timestamp(seconds: 1_600_000_000)
            )
        )
        #expect(try authority.identity(.jwsLeaf).certificate.fields.notAfter == 1_600_000_000_000)
        #expect(try authority.identity(.jwsIntermediate).certificate.fields.notAfter == 2_000_000_000_000)
    }

    private var moment: String { String(TestAuthority.moment.milliseconds / 1_000) }
}
