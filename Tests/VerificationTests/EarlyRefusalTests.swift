import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// To refuse early saves work and decides nothing else.
@Suite struct EarlyRefusalTests {
    /// Expectations around one proof: each single one, right and wrong, and some together.
    static func expectations(_ claims: Claims) -> [Expected] {
        let bundle = claims.bundleID.flatMap { BundleID($0) } ?? BundleID(checked: "com.example.simulated")
        let product = claims.transactions.first?.product ?? Sample.product
        let other = ProductID(checked: "com.example.other.month")
        let foreign = BundleID(checked: "com.example.other")
        let bundles: [BundleID?] = [nil, bundle, foreign]
        let stores: [Set<StoreEnvironment>?] = [nil, [.production], [.sandbox], [.production, .sandbox], []]
        let catalogues: [Set<ProductID>?] = [nil, [product], [other]]
        let products: [ProductID?] = [nil, product, other]
        var all: [Expected] = []
        for bundle in bundles {
            for store in stores {
                for catalogue in catalogues {
                    for product in products {
                        all.append(
                            Expected(bundleID: bundle, environments: store, products: catalogue, product: product)
                        )
                    }
                }
            }
        }
        all.append(Expected(appleID: 1))
        all.append(Expected(deviceID: [UInt8](repeating: 0, count: 16)))
        return all
    }

    /// A proof that is right in itself gets the same verdict either way.
    static func check(_ proof: [UInt8], by verifier: Verifier, stride step: Int) {
        let all = expectations(verifier.examine(proof).report.claims)
        for index in stride(from: 0, to: all.count, by: step) {
            var expecting = all[index]
            let late = verifier.examine(proof, expecting: expecting)
            expecting.refusesEarly = true
            let early = verifier.examine(proof, expecting: expecting)
            #expect(early.verdict == late.verdict, "\(expecting)")
            #expect(early.isProved == late.isProved)
            #expect(early.proof?.fact.claims == late.proof?.fact.claims)
            #expect(early.report.format == late.report.format)
        }
    }

    @Test(arguments: ProofKind.allCases, [StoreEnvironment.production, .sandbox])
    func theVerdictIsTheSame(kind: ProofKind, environment: StoreEnvironment) throws {
        try Self.check(kind.proof(environment), by: TestVerifier.simulated(), stride: 1)
    }

    @Test(
        .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)),
        arguments: Corpus.cases.filter(\.isGenuine)
    )
    func theVerdictOfARecordedProofIsTheSame(_ sample: CorpusCase) throws {
        let proof = try Corpus.unwrapped(sample)
        let step = proof.count > 15_000 ? 43 : 11
        try Self.check(proof, by: CorpusCase.verifierWithCertificates(), stride: step)
    }

    /// Nothing that is refused otherwise is believed early.
    @Test(arguments: Family.allCases)
    func aForgeryIsNeverBelievedEarly(family: Family) throws {
        for flaw in ChainFlaw.allCases {
            guard let reason = family.table[flaw], reason != .addedRoot else { continue }
            let chain = try TestAuthority.shared.chain(family.signing, flaw: flaw)
            let proof = try family.proof(by: chain)
            let verifier = try family.verifier(of: chain)
            for expecting in [
                Expected(refusesEarly: true),
                Expected(bundleID: TestAuthority.bundleID, environments: [.sandbox], refusesEarly: true),
            ] {
                let examination = verifier.examine(proof, expecting: expecting)
                #expect(examination.reason == reason)
                #expect(!examination.isProved && examination.isConsistent)
            }
        }
    }

    /// Another app's proof costs no signature, and a forged one of another app neither.
    @Test(arguments: ProofKind.allCases.filter(\.namesBundle))
    func anotherAppsProofCostsNoCryptography(kind: ProofKind) throws {
        let proof = try kind.sharedProof()
        for verifier in [try TestVerifier.fresh(), try TestVerifier.apple()] {
            let foreign = Expected(bundleID: BundleID(checked: "com.example.other"), refusesEarly: true)
            let examination = verifier.examine(proof, expecting: foreign)
            #expect(examination.reason == .foreignBundleID)
            #expect(examination.report.checks.map(\.name) == [.triage])
            #expect(examination.report.certificates == [])
        }
    }

    @Test(arguments: [ProofKind.transaction, .appTransaction, .notification])
    func anotherStoresTokenCostsNoCryptography(kind: ProofKind) throws {
        let expecting = Expected(environments: [.production], refusesEarly: true)
        let examination = try TestVerifier.apple().examine(kind.sharedProof(), expecting: expecting)
        #expect(examination.reason == .environmentNotAccepted)
        #expect(examination.report.checks.map(\.name) == [.triage])
    }

    /// What the catalogue does not have, or was not asked for. A notification's purchase is only read once it is proved.
    @Test func anUnknownProductsTokenCostsNoCryptography() throws {
        let other = ProductID(checked: "com.example.other.month")
        for (expecting, reason) in [
            (Expected(products: [other], refusesEarly: true), Reason.unknownProduct),
            (Expected(product: other, refusesEarly: true), .otherProduct),
        ] {
            let proof = try ProofKind.transaction.sharedProof()
            let examination = try TestVerifier.apple().examine(proof, expecting: expecting)
            #expect(examination.reason == reason)
            #expect(examination.report.checks.map(\.name) == [.triage])
            #expect(examination.report.certificates == [])
        }
    }

    @Test(arguments: ["12a", "-1", "2000000950112345.0", "\u{FF11}", "99999999999999999999"])
    func aTokenWhoseNumberIsNoneCostsNoCryptography(text: String) throws {
        for key in ["transactionId", "originalTransactionId"] {
            var payload = Sample.payload()
            payload[key] = .text(text)
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
            let examination = try TestVerifier.apple().examine(token, expecting: Expected(refusesEarly: true))
            #expect(examination.reason == .transactionIDForm)
            #expect(examination.report.checks.map(\.name) == [.triage])
            #expect(examination.report.certificates == [])
        }
    }

    /// Without the option the signature comes first: whoever asks is told that it is forged.
    @Test(arguments: ProofKind.allCases)
    func otherwiseTheSignatureComesFirst(kind: ProofKind) throws {
        let expecting = Expected(bundleID: BundleID(checked: "com.example.other"))
        #expect(try TestVerifier.apple().examine(kind.sharedProof(), expecting: expecting).verdict == .forged)
    }
}
