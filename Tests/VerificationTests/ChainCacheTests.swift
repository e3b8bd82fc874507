import AppleFormats
import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What was found out about one proof's certificates may be remembered for the same certificates only.
@Suite struct ChainCacheTests {
    /// The signer's certificate stays, what stands above it is exchanged: right and wrong in turns.
    @Test(arguments: Family.allCases)
    func anotherChainOfTheSameLeafIsJudgedAnew(family: Family) throws {
        let right = try TestAuthority.shared.chain(family.signing)
        for flaw in [ChainFlaw.intermediateWithoutMarker, .intermediateNotCA, .intermediateSignedByOtherKey] {
            guard let reason = family.table[flaw], family.isSelfContained else { continue }
            let wrong = try TestAuthority.shared.chain(family.signing, flaw: flaw)
            #expect(right.certificates[0] == wrong.certificates[0])
            for order in [[right, wrong, right, wrong], [wrong, right, wrong, right]] {
                let verifier = try family.verifier(of: right)
                for chain in order {
                    let isRight = chain.certificates == right.certificates
                    #expect(try verifier.reason(family.proof(by: chain)) == (isRight ? .addedRoot : reason))
                }
            }
        }
    }

    /// One certificate at the end of the list, or the same one in the place of the issuer's name: the bytes in a row
    /// are the same, and mean another thing. Neither may answer for the other.
    @Test func partsThatRunTogetherMakeNoSameKey() throws {
        let genuine = try ProofKind.receiptSHA256.proof()
        var shifted = try ReencodedReceipt(genuine)
        let last = shifted.certificates.removeLast()
        shifted.serial = shifted.issuer + shifted.serial
        shifted.issuer = last
        for order in [[genuine, shifted.encoded], [shifted.encoded, genuine]] {
            let verifier = try TestVerifier.fresh()
            for proof in order + order {
                #expect(verifier.reason(proof) == (proof == genuine ? .addedRoot : .signerMissing))
            }
        }
    }

    /// The moment of signing is not part of what is remembered.
    @Test(arguments: Family.allCases)
    func aRememberedChainIsJudgedAtEachMoment(family: Family) throws {
        let chain = try TestAuthority.shared.chain(family.signing)
        let verifier = try family.verifier(of: chain)
        let late = Timestamp(seconds: 4_000_000_000)
        for _ in 0..<2 {
            #expect(try verifier.reason(family.proof(by: chain)) == .addedRoot)
            #expect(try verifier.reason(family.proof(by: chain, at: late)) == .certificateNotValid)
        }
    }

    /// More chains than are remembered, made up and right ones: each answer stays right.
    @Test func aFloodDrivesNothingOut() throws {
        let verifier = try TestVerifier.fresh()
        let chain = try TestAuthority.shared.chain(.jws)
        let right = JWSSigner(chain)
        let wrong = JWSSigner(try TestAuthority.shared.chain(.jws, flaw: .leafWithoutMarker))
        let token = try right.sign(Sample.payload())
        #expect(verifier.reason(token) == .addedRoot)
        for number in 0..<400 {
            let signer = number % 5 == 0 ? right : wrong
            var header = signer.header
            header["kid"] = .text("\(number)")
            let flood = try signer.sign(json: Sample.payload().json, header: header.json)
            #expect(verifier.reason(flood) == (number % 5 == 0 ? .addedRoot : .leafMarkerMissing))
        }
        #expect(verifier.reason(token) == .addedRoot)
    }

    /// Certificates that are longer than any of Apple's are refused, and so is a list of too many.
    @Test func whatASenderChoosesIsBounded() throws {
        let key = try PrivateKey(generate: .p256)
        func selfSigned(_ extra: Int) throws -> SigningChain {
            let padding = CertificateExtension(
                oid: "2.999.7",
                isCritical: false,
                value: [UInt8](repeating: 7, count: extra)
            )
            let certificate = try IssuedCertificate(
                subject: "StoreKit Testing in Xcode",
                issuer: nil,
                key: key,
                extensions: [.basicConstraints(isCA: false), padding]
            ).certificate
            return SigningChain(key: key, signer: certificate, certificates: [certificate.der])
        }
        let verifier = try TestVerifier.fresh()
        let payload = Sample.payload(.xcode)
        #expect(try verifier.reason(JWSSigner(selfSigned(1_000), isXcode: true).sign(payload)) == .xcode)
        #expect(
            try verifier.reason(JWSSigner(selfSigned(5_000), isXcode: true).sign(payload)) == .certificateUnreadable
        )
        #expect(try verifier.reason(JWSSigner(selfSigned(20_000), isXcode: true).sign(payload)) == .jwsHeader)
        var chain = try TestAuthority.shared.chain(.receiptSHA256)
        chain.certificates.append(chain.certificates[2])
        let four = try ReceiptSigner(chain, digest: .sha256).sign(Sample.receipt())
        #expect(verifier.reason(four) == .addedRoot)
        chain.certificates.append(chain.certificates[2])
        let five = try ReceiptSigner(chain, digest: .sha256).sign(Sample.receipt())
        #expect(verifier.reason(five) == .chainLength)
    }

    /// Many at the same time, right and wrong, through one verifier.
    @Test func manyAtOnceGetTheirOwnAnswers() async throws {
        let verifier = try TestVerifier.fresh()
        var work: [(proof: [UInt8], reason: Reason)] = []
        for kind in ProofKind.allCases { work.append((try kind.sharedProof(), .addedRoot)) }
        for flaw in [ChainFlaw.leafWithoutMarker, .intermediateNotCA, .contentSignedByOtherKey] {
            let chain = try TestAuthority.shared.chain(.jws, flaw: flaw)
            work.append((try Family.jws.proof(by: chain), try #require(Family.jws.table[flaw])))
        }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                for (proof, reason) in work { group.addTask { verifier.reason(proof) == reason } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == work.count * 8)
        #expect(!answers.contains(false))
    }
}
