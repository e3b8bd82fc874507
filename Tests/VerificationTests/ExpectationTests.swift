import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What a good proof is held against: each expectation that does not hold refuses it for its own reason.
@Suite struct ExpectationTests {
    private static let otherBundle = BundleID(checked: "com.example.other")
    private static let otherProduct = ProductID(checked: "com.example.other.month")

    private func reason(
        _ kind: ProofKind,
        _ environment: StoreEnvironment = .sandbox,
        _ expecting: Expected
    ) throws -> Reason {
        try TestVerifier.simulated().examine(kind.proof(environment), expecting: expecting).reason
    }

    @Test(arguments: ProofKind.allCases)
    func anotherAppsProofIsNotYours(kind: ProofKind) throws {
        let right = Expected(bundleID: TestAuthority.bundleID)
        #expect(try reason(kind, .sandbox, right) == .addedRoot)
        let examination = try TestVerifier.simulated().examine(
            kind.sharedProof(),
            expecting: Expected(bundleID: Self.otherBundle)
        )
        guard kind.namesBundle else {
            #expect(examination.reason == .addedRoot)
            #expect(examination.outcomes(.bundleID) == [.skipped])
            return
        }
        #expect(examination.reason == .foreignBundleID)
        #expect(examination.verdict == .notYours)
        #expect(!examination.isProved && examination.isConsistent)
        #expect(examination.report.difference?.expected == "com.example.other")
        #expect(examination.report.difference?.found == "com.example.simulated")
    }

    /// Sandbox does not sign the app's number, and StoreKit 2's transactions never do.
    @Test(arguments: ProofKind.allCases)
    func theAppsNumberIsComparedWhereProductionSignsIt(kind: ProofKind) throws {
        let isSigned = kind != .transaction && kind != .renewalInfo
        let right = Expected(appleID: 1_234_567_890)
        let wrong = Expected(appleID: 1_234_567_891)
        #expect(try reason(kind, .production, right) == .addedRoot)
        #expect(try reason(kind, .production, wrong) == (isSigned ? .foreignAppleID : .addedRoot))
        #expect(try reason(kind, .sandbox, wrong) == .addedRoot)
        let examination = try TestVerifier.simulated().examine(kind.proof(.production), expecting: wrong)
        #expect(examination.outcomes(.appleID) == [isSigned ? .failed : .skipped])
    }

    @Test(arguments: ProofKind.allCases, [StoreEnvironment.production, .sandbox])
    func onlyAcceptedStoresCount(kind: ProofKind, environment: StoreEnvironment) throws {
        let other: StoreEnvironment = environment == .production ? .sandbox : .production
        #expect(try reason(kind, environment, Expected(environments: [environment])) == .addedRoot)
        #expect(try reason(kind, environment, Expected(environments: [.production, .sandbox])) == .addedRoot)
        #expect(try reason(kind, environment, Expected(environments: [other])) == .environmentNotAccepted)
        #expect(try reason(kind, environment, Expected(environments: [])) == .environmentNotAccepted)
        let none = Expected(environments: [.xcode, .localTesting, StoreEnvironment(rawValue: "Sandbox")])
        #expect(try reason(kind, environment, none) == .environmentNotAccepted)
    }

    /// Texts of 2021 name no store.
    @Test func aProofWithoutAStoreLeavesItOpen() throws {
        var payload = Sample.payload()
        payload["environment"] = nil
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
        var attributes = Sample.receipt().attributes
        attributes.removeAll { $0.type == 0 }
        let content = SimulatedReceipt.content(attributes, isSorted: true)
        let receipt = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256).sign(
            content: content
        )
        let old = try TestAuthority.signer().oldReceipt(Sample.transaction(7))
        for proof in [Array(token.utf8), receipt, old] {
            for refusesEarly in [false, true] {
                let expecting = Expected(environments: [.production, .sandbox], refusesEarly: refusesEarly)
                let examination = try TestVerifier.simulated().examine(proof, expecting: expecting)
                #expect(examination.reason == .environmentUnknown)
                #expect(examination.verdict == .undecidable)
                #expect(!examination.isProved)
            }
            #expect(try TestVerifier.simulated().examine(proof).proof?.fact.claims.environment == nil)
        }
    }

    /// A word that is not Apple's, or in another case than Apple's, is no store that anybody accepts.
    @Test(arguments: ["production", "SANDBOX", "PROD ", "Produçtion", "", "sandbox\u{301}", "ProductionSandbox2"])
    func aStoreOfAnotherNameIsAccepted(nowhere word: String) throws {
        var payload = Sample.payload()
        payload["environment"] = .text(word)
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
        let expecting = Expected(environments: Set(StoreEnvironment.known))
        #expect(try TestVerifier.simulated().examine(token, expecting: expecting).reason == .environmentNotAccepted)
    }

    @Test(arguments: ProofKind.allCases.filter(\.holdsPurchases))
    func theProductMustBeInTheCatalogueAndTheOneAskedFor(kind: ProofKind) throws {
        let both: Set = [Sample.product, Self.otherProduct]
        for refusesEarly in [false, true] {
            let table: [(Expected, Reason)] = [
                (Expected(products: both, product: Sample.product), .addedRoot),
                (Expected(products: [Self.otherProduct]), .unknownProduct),
                (Expected(products: []), .unknownProduct),
                (Expected(product: Self.otherProduct), .otherProduct),
                (Expected(products: both, product: Self.otherProduct), .otherProduct),
            ]
            for (expecting, reason) in table {
                var expecting = expecting
                expecting.refusesEarly = refusesEarly
                let examination = try TestVerifier.simulated().examine(kind.sharedProof(), expecting: expecting)
                #expect(examination.reason == reason)
                #expect(examination.isProved == (reason == .addedRoot))
            }
        }
    }

    @Test func oneOfManyPurchasesIsEnough() throws {
        let purchases = [
            Sample.transaction(2_000_000_000_000_001, product: Self.otherProduct),
            Sample.transaction(2_000_000_000_000_002),
        ]
        let receipt = try TestAuthority.signer().receipt(purchases, createdAt: Sample.moment)
        for product in [Sample.product, Self.otherProduct] {
            let expecting = Expected(products: [product], product: product)
            let examination = try TestVerifier.simulated().examine(receipt, expecting: expecting)
            #expect(examination.proof?.fact.transactions.count == 2)
        }
    }

    /// A genuine receipt without a purchase, as cracking tools send it, pays for nothing.
    @Test func aReceiptWithoutPurchasesPaysForNothing() throws {
        let receipt = try TestAuthority.signer().receipt([], createdAt: Sample.moment)
        let verifier = try TestVerifier.simulated()
        for refusesEarly in [false, true] {
            let expecting = Expected(product: Sample.product, refusesEarly: refusesEarly)
            let examination = verifier.examine(receipt, expecting: expecting)
            #expect(examination.reason == .noPurchases)
            #expect(examination.verdict == .undecidable)
            #expect(!examination.isProved)
        }
        let examination = verifier.examine(receipt)
        #expect(examination.reason == .addedRoot)
        #expect(examination.proof?.fact.transactions == [])
        // A certificate that anybody can make does not bring it among what is kept for later.
        let xcode = try TestAuthority.signer(.xcode).receipt([], createdAt: Sample.moment)
        #expect(verifier.examine(xcode, expecting: Expected(product: Sample.product)).reason == .xcode)
    }

    @Test(arguments: [16, 6])
    func theDeviceIsComparedByItsHash(length: Int) throws {
        var receipt = Sample.receipt()
        receipt.deviceID = [UInt8](repeating: 0xA7, count: length)
        let signed = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256).sign(receipt)
        let verifier = try TestVerifier.simulated()
        #expect(verifier.examine(signed, expecting: Expected(deviceID: receipt.deviceID)).reason == .addedRoot)
        var other = receipt.deviceID
        other[length - 1] ^= 1
        for wrong in [other, [], Array(receipt.deviceID.dropLast()), receipt.deviceID + [0]] {
            let examination = verifier.examine(signed, expecting: Expected(deviceID: wrong))
            #expect(examination.reason == .foreignDevice)
            #expect(!examination.isProved)
        }
        #expect(verifier.examine(signed).outcomes(.device) == [.skipped])
    }

    /// A receipt whose hash is empty is for no device.
    @Test func aReceiptWithoutADeviceHashIsForNoDevice() throws {
        var attributes = Sample.receipt().attributes
        attributes.removeAll { $0.type == 5 || $0.type == 4 }
        let content = SimulatedReceipt.content(attributes, isSorted: true)
        let receipt = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256).sign(
            content: content
        )
        let expecting = Expected(deviceID: [UInt8](repeating: 0xD5, count: 16))
        #expect(try TestVerifier.simulated().examine(receipt, expecting: expecting).reason == .foreignDevice)
    }

    @Test(arguments: ProofKind.allCases.filter { !$0.isReceipt })
    func whatHasNoDeviceHashSaysSo(kind: ProofKind) throws {
        let expecting = Expected(deviceID: [UInt8](repeating: 1, count: 16))
        let examination = try TestVerifier.simulated().examine(kind.sharedProof(), expecting: expecting)
        #expect(examination.reason == .addedRoot)
        #expect(examination.outcomes(.device) == [.skipped])
    }

    /// Each comparison is noted, also the one that was not made.
    @Test(arguments: ProofKind.allCases)
    func whatWasNotCheckedIsSaid(kind: ProofKind) throws {
        let examination = try TestVerifier.simulated().examine(kind.sharedProof())
        for name in [CheckName.bundleID, .appleID, .environment, .product] {
            #expect(examination.outcomes(name) == [.skipped], "\(name)")
        }
        for name in [CheckName.chain, .signature, .content, .validity] {
            #expect(examination.outcomes(name) == [.passed], "\(name)")
        }
    }
}
