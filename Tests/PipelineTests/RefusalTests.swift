import Crypto
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// Refusals cost the disk nothing of their own, and are counted all the same.
@Suite struct RefusalTests {
    @Test func aRefusalIsNotWrittenUntilSomethingElseIs() async throws {
        try await PipelineHouse().open { (house) async throws in
            for number in 0..<50 {
                #expect(try await house.submit(Proofs.garbage(number)).word == "refused unreadable")
            }
            #expect(house.store.writes == 0)
            #expect(try await house.refusals() == (0, []))
            #expect(try await house.submit(try Proofs.jws(1)).word == "recorded")
            #expect(house.store.writes == 1)
            let written = try await house.refusals()
            #expect(written.count == 50)
            #expect(written.samples.map(\.proof) == (0..<50).reversed().map(Proofs.garbage))
            // Once.
            #expect(try await house.submit(try Proofs.jws(2)).word == "recorded")
            #expect(try await house.refusals().count == 50)
        }
    }

    /// Undecidable is only what the app would record once it is decided.
    @Test func aTestSignatureDoesNotWaitWhereItWouldNotCount() async throws {
        let empty = try TestAuthority.signer().receipt([], createdAt: PipelineHouse.now)
        var payload = Payload.transaction(try Proofs.transaction(1), of: TestAuthority.app())
        payload["environment"] = nil
        let nowhere = Array(try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload).utf8)
        for (acceptsTestSigned, word) in [(false, "refused test_purchase"), (true, "pending")] {
            try await PipelineHouse(acceptsTestSigned: acceptsTestSigned).open { (house) async throws in
                #expect(try await house.submit(empty, product: "coins").word == word)
                #expect(try await house.submit(empty).word == word)
                #expect(try await house.submit(nowhere).word == word)
                #expect(try await house.figures().pendingSubmissions == (acceptsTestSigned ? 2 : 0))
            }
        }
    }

    @Test func aRepetitionIsNoCommitAndTakesNoRefusalAlong() async throws {
        try await PipelineHouse().open { (house) async throws in
            #expect(try await house.submit(try Proofs.jws(1)).word == "recorded")
            for number in 0..<3 { _ = try await house.submit(Proofs.garbage(number)) }
            #expect(try await house.submit(try Proofs.jws(1)).word == "known")
            #expect(try await house.refusals().count == 0)
            #expect(house.commits == [1])
            #expect(try await house.submit(try Proofs.jws(2)).word == "recorded")
            #expect(try await house.refusals().count == 3)
        }
    }

    @Test func aFailedCommitLosesNoRefusal() async throws {
        try await PipelineHouse().open { (house) async throws in
            for number in 0..<3 { _ = try await house.submit(Proofs.garbage(number)) }
            house.store.fail(.full)
            await #expect(throws: StoreFailure.full) { _ = try await house.submit(try Proofs.jws(1)) }
            for number in 3..<5 { _ = try await house.submit(Proofs.garbage(number)) }
            #expect(try await house.submit(try Proofs.jws(1)).word == "recorded")
            let written = try await house.refusals()
            #expect(written.count == 5)
            #expect(written.samples.map(\.proof) == (0..<5).reversed().map(Proofs.garbage))
        }
    }

    @Test func theEndWritesWhatIsLeft() async throws {
        let house = try PipelineHouse()
        try await house.open { house in _ = try await house.submit(Proofs.garbage(1)) }
        #expect(try await house.refusals().count == 1)
        #expect(house.store.writes == 1)
    }

    @Test func aFloodLeavesTheNewestSamples() async throws {
        try await PipelineHouse().open { (house) async throws in
            for number in 0..<200 { _ = try await house.submit(Proofs.garbage(number)) }
            house.store.fail(.full)
            _ = try? await house.submit(Proofs.jws(1))
            for number in 200..<210 { _ = try await house.submit(Proofs.garbage(number)) }
            _ = try await house.submit(Proofs.jws(1))
            let written = try await house.refusals()
            #expect(written.count == 210)
            #expect(written.samples.map(\.proof) == (146..<210).reversed().map(Proofs.garbage))
        }
    }

    @Test func whatWasRefusedIsRememberedForItsAppAndSampledOnce() async throws {
        try await PipelineHouse().open { (house) async throws in
            for _ in 0..<3 { #expect(try await house.submit(Proofs.garbage(1)).word == "refused unreadable") }
            _ = try await house.submit(Proofs.garbage(1), customer: "bob")
            _ = try await house.submit(Proofs.garbage(1), to: house.otherApp)
            #expect(house.refusalsFromMemory == [false, true, true, true, false])
            _ = try await house.submit(Proofs.jws(1))
            let written = try await house.refusals()
            #expect(written.count == 5)
            // Of each customer once: who looks for bob finds his.
            #expect(written.samples.map(\.app?.text) == ["other", "game", "game"])
            #expect(written.samples.map(\.customer?.text) == ["ann", "bob", "ann"])
            // And once a day: the first may be gone, and she tries again.
            house.clock.advance(by: .seconds(86_400))
            for _ in 0..<2 { _ = try await house.submit(Proofs.garbage(1)) }
            _ = try await house.submit(Proofs.jws(2))
            #expect(try await house.refusals().samples.count == 4)
        }
    }

    /// A sample says what the proof is written in, also where it came again from somebody else.
    @Test func aSampleHasTheFormatAlsoOfARepetition() async throws {
        try await PipelineHouse().open { (house) async throws in
            let payload = Payload.transaction(try Proofs.transaction(7), of: TestAuthority.app())
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload, flaw: .signatureBitFlipped)
            for customer in ["ann", "bob"] { _ = try await house.submit(Array(token.utf8), customer: customer) }
            _ = try await house.submit(Proofs.jws(1))
            let samples = try await house.refusals().samples
            #expect(samples.map(\.customer?.text) == ["bob", "ann"])
            #expect(samples.allSatisfy { $0.format == "jws_transaction" })
        }
    }

    /// What a forged token says is not believed, and it is found by it: on the page of the transaction, say.
    @Test(arguments: [JWSFlaw.signatureBitFlipped, .algorithmNoneButSigned])
    func aSampleHasWhatAForgedTokenClaims(flaw: JWSFlaw) async throws {
        try await PipelineHouse().open { (house) async throws in
            let sold = try Proofs.transaction(7)
            let signer = JWSSigner(try TestAuthority.shared.chain(.jws))
            let forged = try signer.sign(.transaction(sold, of: TestAuthority.app()), flaw: flaw)
            let elsewhere = SimulatedApp(bundleID: BundleID(checked: "com.example.else"), environment: .sandbox)
            let foreign = try signer.sign(.transaction(sold, of: elsewhere))
            for token in [forged, foreign] { _ = try await house.submit(Array(token.utf8)) }
            _ = try await house.submit(Proofs.jws(1))
            let samples = try await house.refusals().samples
            #expect(samples.map(\.claimed) == [[sold.id], [sold.id]])
            #expect(try await house.figures().transactions == 1)
        }
    }

    /// The same of receipts: of the many purchases that one may hold, the first.
    @Test func aSampleHasWhatAForgedReceiptClaims() async throws {
        try await PipelineHouse().open { (house) async throws in
            let sold = [try Proofs.transaction(7), try Proofs.transaction(8)]
            let chain = try TestAuthority.shared.chain(.receiptSHA256)
            let receipt = SimulatedReceipt(app: TestAuthority.app(), createdAt: PipelineHouse.now, purchases: sold)
            var elsewhere = receipt
            elsewhere.app = SimulatedApp(bundleID: BundleID(checked: "com.example.else"), environment: .sandbox)
            let signer = ReceiptSigner(chain, digest: .sha256)
            let old = OldReceiptSigner(try TestAuthority.shared.chain(.oldReceipt), version: .two)
            let refused = [
                try signer.sign(receipt, flaw: .signatureBitFlipped), try signer.sign(receipt, flaw: .noSigners),
                try signer.sign(elsewhere),
                try old.sign(sold[0], of: TestAuthority.app(), flaw: .signatureBitFlipped),
                try old.sign(sold[0], of: elsewhere.app),
            ]
            for proof in refused { #expect(try await house.submit(proof).word.hasPrefix("refused ")) }
            _ = try await house.submit(Proofs.jws(1))
            let samples = try await house.refusals().samples
            let claimed = samples.flatMap(\.claimed)
            let first = try #require(sold.map(\.id).first { claimed.first == $0 })
            #expect(samples.map(\.claimed) == Array(repeating: [first], count: refused.count))
            #expect(try await house.figures().transactions == 1)
        }
    }

    /// A receipt that is no genuine one may be a million of anything: it is not read to its end.
    @Test func aForgedReceiptIsReadAsFarAsAnyRealOneReaches() async throws {
        try await PipelineHouse().open { (house) async throws in
            let chain = try TestAuthority.shared.chain(.receiptSHA256)
            var claims: [[Int64]] = []
            for extra in [Int64(16), 200] {
                let receipt = SimulatedReceipt(
                    app: TestAuthority.app(),
                    createdAt: PipelineHouse.now,
                    purchases: [try Proofs.transaction(7)]
                )
                let more = (0..<extra).map { SimulatedReceipt.Attribute(1_000 + $0, number: 0) }
                let content = SimulatedReceipt.content(receipt.attributes + more, isSorted: true)
                var forged = try ReceiptSigner(chain, digest: .sha256).sign(content: content)
                forged[forged.count - 1] ^= 1
                _ = try await house.submit(forged)
                _ = try await house.submit(Proofs.jws(extra))
                claims.append(try await house.refusals().samples.first?.claimed.map(\.number) ?? [])
            }
            #expect(claims == [[try Proofs.transaction(7).id.number], []])
        }
    }

    /// It is recorded and answered as ever; beside that it is counted and sampled, without a write of its own.
    @Test func whatIsAnotherCustomersIsCountedAndSampled() async throws {
        try await PipelineHouse().open { (house) async throws in
            let jws = try Proofs.jws(7)
            _ = try await house.submit(jws)
            for _ in 0..<2 { #expect(try await house.submit(jws, customer: "bob").word == "known") }
            _ = try await house.submit(jws)
            #expect(house.commits == [1])
            #expect(try await house.refusals() == (0, []))
            _ = try await house.submit(Proofs.jws(8))
            let (count, samples) = try await house.refusals()
            #expect(count == 2)
            #expect(samples.map(\.reason) == ["owned_by_another_customer"])
            #expect(samples.map(\.customer?.text) == ["bob"])
            #expect(samples.map { $0.claimed.map(\.number) } == [[2_000_000_000_000_007]])
        }
    }

    @Test func whatDependsOnTheSendersWordsIsNotRemembered() async throws {
        try await PipelineHouse().open { (house) async throws in
            let jws = try Proofs.jws(1, product: "coins")
            for _ in 0..<2 {
                #expect(try await house.submit(jws, product: "gems").word == "refused other_product")
            }
            #expect(try await house.submit(jws, product: "coins").word == "recorded")

            let receipt = try TestAuthority.signer().receipt([Proofs.transaction(2)], createdAt: PipelineHouse.now)
            let device = [UInt8](repeating: 1, count: 16)
            for _ in 0..<2 {
                #expect(try await house.submit(receipt, deviceID: device).word == "refused not_for_this_app")
            }
            #expect(try await house.submit(receipt).word == "recorded")
            #expect(house.refusalsFromMemory == [false, false, false, false])
        }
    }

    /// Two generations of 8,192: the first is forgotten when a third one begins.
    @Test func whatIsRememberedHasABound() async throws {
        try await PipelineHouse().open { (house) async throws in
            let generation = 8_192
            func isRemembered(_ number: Int) async throws -> Bool {
                _ = try await house.submit(Proofs.garbage(number))
                return house.lastRefusalWasFromMemory
            }
            for number in 0...generation { #expect(try await !isRemembered(number)) }
            #expect(try await isRemembered(0))
            for number in generation + 1...2 * generation { _ = try await house.submit(Proofs.garbage(number)) }
            #expect(try await isRemembered(2 * generation))
            #expect(try await isRemembered(generation))
            #expect(try await !isRemembered(0))
        }
    }

    @Test(arguments: JWSFlaw.allCases) func nothingThatIsForgedReachesTheStore(flaw: JWSFlaw) async throws {
        try await PipelineHouse().open { (house) async throws in
            let payload = Payload.transaction(try Proofs.transaction(1), of: TestAuthority.app())
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload, flaw: flaw)
            let word = try await house.submit(Array(token.utf8)).word
            // A blank at the end is not part of the token.
            if flaw == .blankAtEnd, word == "recorded" { return }
            #expect(["refused not_authentic", "refused unreadable"].contains(word), "\(word)")
            #expect(house.store.writes == 0)
        }
    }
}

extension PipelineHouse {
    fileprivate var lastRefusalWasFromMemory: Bool {
        guard case .refused(_, _, _, _, let isRepetition) = events.last else { return false }
        return isRepetition
    }
}
