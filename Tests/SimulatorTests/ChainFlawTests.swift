import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct ChainFlawTests {
    /// What differs from the right chain, certificate by certificate; a new key brings its own serial number and key
    /// identifier.
    private static let table: [(ChainFlaw, Set<String>)] = [
        (.leafWithoutMarker, ["leaf.extensions"]),
        (.leafExpired, ["leaf.notAfter"]),
        (.leafNotYetValid, ["leaf.notBefore"]),
        (.leafMayNotSign, ["leaf.keyUsage"]),
        (.leafWithUnknownCriticalExtension, ["leaf.extensions"]),
        (.leafNamesOtherIssuer, ["leaf.issuer"]),
        (.leafSignedByOtherKey, ["leaf.signature"]),
        (.leafSignedOverSHA1, ["leaf.algorithm"]),
        (.leafOnOtherCurve, ["leaf.key", "signer.key"]),
        (.leafOfOtherKind, ["leaf.key", "signer.key"]),
        (.contentSignedByOtherKey, ["signer.key"]),
        (.intermediateWithoutMarker, ["intermediate.extensions"]),
        (.intermediateExpired, ["intermediate.notAfter"]),
        (.intermediateNotYetValid, ["intermediate.notBefore"]),
        (.intermediateNotCA, ["intermediate.constraints"]),
        (.intermediateMayNotIssue, ["intermediate.keyUsage"]),
        (.intermediateWithUnknownCriticalExtension, ["intermediate.extensions"]),
        (.intermediateNamesOtherIssuer, ["intermediate.issuer"]),
        (.intermediateSignedByOtherKey, ["intermediate.signature"]),
        (.foreignRootSent, ["root.key", "root.signature"]),
        (
            .foreignRoot,
            [
                "leaf.key", "leaf.signature", "intermediate.key", "intermediate.signature", "root.key",
                "root.signature", "signer.key",
            ]
        ),
        (
            .foreignChainUnderRightRoot,
            ["leaf.key", "leaf.signature", "intermediate.key", "intermediate.signature", "signer.key"]
        ),
        (.foreignLeafOnRightChain, ["leaf.key", "leaf.signature", "signer.key"]),
    ]

    @Test(arguments: SigningFamily.allCases, table)
    func aFlawChangesWhatItNamesAndNothingElse(family: SigningFamily, row: (ChainFlaw, Set<String>)) throws {
        guard row.0.applies(to: family) else { return }
        let right = try TestAuthority.shared.chain(family)
        let wrong = try TestAuthority.shared.chain(family, flaw: row.0)
        #expect(wrong.certificates.count == 3)
        var found: Set<String> = []
        for (index, name) in ["leaf", "intermediate", "root"].enumerated() {
            let issuer = try Certificate(der: right.certificates[min(index + 1, 2)])
            let differences = try Self.differences(
                Certificate(der: right.certificates[index]),
                Certificate(der: wrong.certificates[index]),
                issuer
            )
            found.formUnion(differences.map { name + "." + $0 })
        }
        if wrong.key.publicKey != right.key.publicKey { found.insert("signer.key") }
        #expect(found == row.1)
    }

    @Test func everyFlawHasARow() {
        let other: [ChainFlaw] = [
            .leafUsedAsIssuer, .pathTooLong, .reordered, .reversed, .noCertificates, .onlyLeaf, .withoutRoot,
            .fourCertificates, .leafTwice,
        ]
        #expect(Set(Self.table.map(\.0) + other) == Set(ChainFlaw.allCases))
    }

    @Test(arguments: [
        (ChainFlaw.reordered, [1, 0, 2]), (.reversed, [2, 1, 0]), (.noCertificates, []), (.onlyLeaf, [0]),
        (.withoutRoot, [0, 1]), (.fourCertificates, [0, 1, 2, 2]), (.leafTwice, [0, 0, 2]),
    ])
    func anOrderIsAsNamed(flaw: ChainFlaw, order: [Int]) throws {
        let right = try TestAuthority.shared.chain(.jws)
        let wrong = try TestAuthority.shared.chain(.jws, flaw: flaw)
        #expect(wrong.certificates == order.map { right.certificates[$0] })
        #expect(wrong.key.publicKey == right.key.publicKey)
    }

    @Test(arguments: [SigningFamily.jws, .receiptSHA256])
    func aLeafThatIssuesIsNoAuthority(family: SigningFamily) throws {
        let right = try TestAuthority.shared.chain(family)
        let wrong = try TestAuthority.shared.chain(family, flaw: .leafUsedAsIssuer)
        #expect(wrong.certificates.count == (family == .jws ? 3 : 4))
        let issuer = try Certificate(der: wrong.certificates[1])
        #expect(issuer.der == right.certificates[0])
        #expect(!issuer.fields.isCA)
        #expect(wrong.signer.isSigned(by: issuer))
        #expect(wrong.signer.fields.issuerDER == issuer.fields.subjectDER)
    }

    @Test func aPathThatIsTooLongIsSignedThroughout() throws {
        let wrong = try TestAuthority.shared.chain(.jws, flaw: .pathTooLong).certificates.map {
            try Certificate(der: $0)
        }
        #expect(wrong.count == 4)
        for (subject, issuer) in zip(wrong, wrong.dropFirst()) {
            #expect(subject.isSigned(by: issuer))
            #expect(subject.fields.issuerDER == issuer.fields.subjectDER)
            #expect(issuer.fields.isCA)
        }
        #expect(wrong[2].fields.pathLength == 0)
    }

    /// The errors of OpenSSL's own path validation; `nil` where it knows nothing of Apple's rule.
    @Test(
        arguments: [
            (ChainFlaw.leafWithoutMarker, nil), (.leafExpired, "certificate has expired"),
            (.leafNotYetValid, "certificate is not yet valid"),
            (.leafWithUnknownCriticalExtension, "unhandled critical extension"),
            (.leafNamesOtherIssuer, "unable to get local issuer certificate"),
            (.leafSignedByOtherKey, "certificate signature failure"),
            (.intermediateWithoutMarker, nil), (.intermediateExpired, "certificate has expired"),
            (.intermediateNotYetValid, "certificate is not yet valid"),
            (.intermediateNotCA, "invalid CA certificate"),
            (.intermediateWithUnknownCriticalExtension, "unhandled critical extension"),
            (.intermediateNamesOtherIssuer, "unable to get"),
            (.intermediateSignedByOtherKey, "certificate signature failure"),
            (.leafUsedAsIssuer, "invalid CA certificate"), (.pathTooLong, "path length constraint exceeded"),
            (.foreignRoot, "self-signed certificate in certificate chain"),
            (.foreignChainUnderRightRoot, "unable to get"),
        ] as [(ChainFlaw, String?)]
    )
    func anotherProgramSeesTheFlaw(flaw: ChainFlaw, message: String?) throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let chain = try TestAuthority.shared.chain(.jws, flaw: flaw).certificates
        let root = try tool.writePEM(try TestAuthority.shared.roots()[0], as: "root")
        let leaf = try tool.writePEM(chain[0], as: "leaf")
        var arguments = [
            "verify", "-attime", String(TestAuthority.moment.milliseconds / 1_000), "-CAfile", root,
        ]
        for (index, certificate) in chain.dropFirst().enumerated() {
            arguments += ["-untrusted", try tool.writePEM(certificate, as: "other\(index)")]
        }
        let answer = try tool.run(arguments + [leaf])
        #expect(answer.isSuccess == (message == nil), "\(answer.text)")
        if let message { #expect(answer.text.contains(message), "\(answer.text)") }
    }

    private static func differences(_ right: Certificate, _ wrong: Certificate, _ issuer: Certificate) -> [String] {
        var names: [String] = []
        let (old, new) = (right.fields, wrong.fields)
        if old.subjectDER != new.subjectDER { names.append("subject") }
        if old.issuerDER != new.issuerDER { names.append("issuer") }
        if old.notBefore != new.notBefore { names.append("notBefore") }
        if old.notAfter != new.notAfter { names.append("notAfter") }
        if old.isCA != new.isCA || old.pathLength != new.pathLength { names.append("constraints") }
        if old.keyUsage != new.keyUsage { names.append("keyUsage") }
        if value("2.5.29.37", old) != value("2.5.29.37", new) { names.append("extendedKeyUsage") }
        if old.extensions.map(\.oid) != new.extensions.map(\.oid) { names.append("extensions") }
        if old.signatureAlgorithm != new.signatureAlgorithm { names.append("algorithm") }
        if right.publicKey != wrong.publicKey {
            names.append("key")
        } else {
            if old.serial != new.serial { names.append("serial") }
            if old.subjectKeyID != new.subjectKeyID { names.append("keyIdentifier") }
        }
        if !wrong.isSigned(by: issuer) { names.append("signature") }
        return names
    }

    private static func value(_ oid: String, _ fields: Certificate.Fields) -> [UInt8]? {
        fields.extensions.first { $0.oid == oid }?.value
    }
}
