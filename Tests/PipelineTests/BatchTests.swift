import Pipeline
import PurchaseModel
import Storage
import Testing

/// What is queued together is committed together, and answered afterwards.
@Suite struct BatchTests {
    @Test func whatWaitsIsOneCommitAndNobodyIsAnsweredBefore() async throws {
        try await PipelineHouse().open { (house) async throws in
            let answered = Noted<Int64>()
            house.store.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)...9 {
                    let proof = try Proofs.jws(number)
                    // Starts at once, and runs until it is queued.
                    group.addImmediateTask { () async throws in
                        #expect(try await house.submit(proof).word == "recorded")
                        answered.note(number)
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                #expect(answered.values == [])
                house.store.releaseOne()
                await house.store.untilHeld()
                #expect(answered.values.allSatisfy { $0 == 0 })
                house.store.release()
                try await group.waitForAll()
            }
            #expect(house.commits == [1, 9])
            #expect(house.store.writes == 2)
            #expect(try await house.figures().transactions == 10)
        }
    }

    @Test func aBatchHasABound() async throws {
        try await PipelineHouse().open { (house) async throws in
            try await Self.submitTogether(0..<300, in: house) { #expect($0?.word == "recorded") }
            #expect(house.commits.reduce(0, +) == 300)
            #expect(house.commits.count > 2)
            let bytesMax = 512 * 1_024
            let proof = try Proofs.jws(0)
            #expect(house.commits.allSatisfy { $0 <= 256 && ($0 - 1) * proof.count <= bytesMax })
        }
    }

    @Test(arguments: [StoreFailure.full, .busy, .broken(code: 10), .closed])
    func aFailingCommitFailsAllItsSubmissionsAndLosesNone(failure: StoreFailure) async throws {
        try await PipelineHouse().open { (house) async throws in
            #expect(try await house.submit(try Proofs.jws(0)).word == "recorded")
            // The first one, the others together, and each of them alone where it might be free then.
            for _ in 0..<6 { house.store.fail(failure) }
            try await Self.submitTogether(1..<6, in: house) { #expect($0 == nil) }
            house.store.failNoMore()
            #expect(try await house.figures().transactions == 1)
            // The same again is as new as it was.
            try await Self.submitTogether(1..<6, in: house) { #expect($0?.word == "recorded") }
            #expect(try await house.figures().transactions == 6)
            #expect(try await house.submit(try Proofs.jws(0)).word == "known")
        }
    }

    /// What one of them may be the reason of: a row of his that cannot be read, a value that cannot be written.
    @Test(arguments: [StoreFailure.conflict, .broken(code: 11), .unstorable])
    func whatMayConcernOneFailsNobodyElse(failure: StoreFailure) async throws {
        try await PipelineHouse().open { (house) async throws in
            house.store.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)..<4 {
                    let proof = try Proofs.jws(number)
                    group.addImmediateTask { () async throws in
                        #expect(try await house.submit(proof).word == "recorded")
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                house.store.releaseOne()
                await house.store.untilHeld()
                house.store.fail(failure)
                house.store.release()
                try await group.waitForAll()
            }
            #expect(house.commits == [1, 1, 1, 1])
        }
    }

    @Test func whatTheStoreCannotHoldIsRefusedAlone() async throws {
        try await PipelineHouse().open { (house) async throws in
            var unstorable = try Proofs.transaction(2)
            unstorable.storefront = String(repeating: "x", count: 5_000)
            let proofs = [
                try Proofs.jws(0), try Proofs.jws(1), try Proofs.jws(unstorable), try Proofs.jws(3),
                try Proofs.jws(unstorable),
            ]
            let refused = Noted<Int>()
            house.store.hold()
            await withTaskGroup(of: Void.self) { group in
                for (number, proof) in proofs.enumerated() {
                    group.addImmediateTask {
                        guard let word = try? await house.submit(proof).word, word != "recorded" else { return }
                        #expect(word == "refused unreadable")
                        refused.note(number)
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                house.store.release()
            }
            #expect(refused.values.sorted() == [2, 4])
            #expect(house.store.writes == 2)
            #expect(try await house.figures().evidence == 3)
            // It will never be another: the next one is not even verified.
            #expect(try await house.submit(proofs[2]).word == "refused unreadable")
            #expect(house.store.writes == 2)
        }
    }

    @Test func theSameRequestTwiceAtOnceIsDecidedOnceAndHoldsUpNobody() async throws {
        try await PipelineHouse().open { (house) async throws in
            let words = Noted<String>()
            house.store.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)..<6 {
                    // The third and the fifth are one request.
                    let key = number == 4 ? "k2" : "k\(number)"
                    let submission = try Self.kept(number == 4 ? 2 : number, key, bytes: 10, in: house)
                    group.addImmediateTask { () async throws in
                        do throws(StoreFailure) {
                            words.note(try await house.pipeline.submit(submission).word)
                        } catch {
                            words.note("\(error)")
                        }
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                house.store.release()
                try await group.waitForAll()
            }
            #expect(words.values.sorted() == ["conflict"] + Array(repeating: "recorded", count: 5))
            #expect(house.commits == [1, 5])
            #expect(house.store.writes == 2)
        }
    }

    /// As of a receipt with some hundred purchases.
    @Test func anAnswerTooLongToKeepCostsNobodyHisPurchase() async throws {
        try await PipelineHouse().open { (house) async throws in
            for (number, bytes) in [KeptAnswer.bodyBytesMax, KeptAnswer.bodyBytesMax + 1].enumerated() {
                let submission = try Self.kept(Int64(number), "k\(number)", bytes: bytes, in: house)
                #expect(try await house.pipeline.submit(submission).word == "recorded")
                let kept = try await house.store.read { reader throws(StoreFailure) in
                    try reader.keptAnswer(IdempotencyName(holder: "shop", key: "k\(number)"))
                }
                #expect((kept != nil) == (number == 0))
            }
            #expect(try await house.figures().transactions == 2)
        }
    }

    /// Else whoever has one purchase could have a row written as often as he likes.
    @Test func aRepetitionIsDecidedAgainAndWritesNothing() async throws {
        try await PipelineHouse().open { (house) async throws in
            #expect(try await house.submit(try Proofs.jws(1)).word == "recorded")
            for name in ["k1", "k2"] {
                #expect(try await house.pipeline.submit(Self.kept(1, name, bytes: 10, in: house)).word == "known")
                let kept = try await house.store.read { reader throws(StoreFailure) in
                    try reader.keptAnswer(IdempotencyName(holder: "shop", key: name))
                }
                #expect(kept == nil)
            }
            #expect(house.commits == [1])
        }
    }

    private static func kept(
        _ number: Int64,
        _ key: String,
        bytes: Int,
        in house: PipelineHouse
    ) throws -> Submission {
        let name = IdempotencyName(holder: "shop", key: key)
        var submission = try house.submission(try Proofs.jws(number))
        submission.kept = KeptDecision(name: name) { _ in
            KeptAnswer(
                name: name,
                fingerprint: [1],
                status: 200,
                contentType: "application/json",
                body: [UInt8](repeating: 0x20, count: bytes),
                keptAt: Timestamp(milliseconds: 0)
            )
        }
        return submission
    }

    @Test func whoComesToAFullQueueIsToldSoAndNothingIsWrittenOfIt() async throws {
        try await PipelineHouse(queuedMax: 3).open { (house) async throws in
            house.store.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)...3 {
                    let proof = try Proofs.jws(number)
                    group.addImmediateTask { () async throws in
                        #expect(try await house.submit(proof).word == "recorded")
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                await #expect(throws: StoreFailure.busy) { _ = try await house.submit(try Proofs.jws(4)) }
                house.store.release()
                try await group.waitForAll()
            }
            #expect(try await house.figures().transactions == 4)
            #expect(try await house.submit(try Proofs.jws(4)).word == "recorded")
        }
    }

    @Test func aStopWritesWhatIsQueuedAndTakesNothingIn() async throws {
        let house = try PipelineHouse()
        try await house.open { (house) async throws in
            house.store.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)...3 {
                    let proof = try Proofs.jws(number)
                    group.addImmediateTask { () async throws in
                        #expect(try await house.submit(proof).word == "recorded")
                    }
                    if number == 0 { await house.store.untilHeld() }
                }
                house.recorder.stop()
                await #expect(throws: StoreFailure.closed) { _ = try await house.submit(try Proofs.jws(4)) }
                house.store.release()
                try await group.waitForAll()
            }
        }
        #expect(try await house.figures().transactions == 4)
        await #expect(throws: StoreFailure.closed) { _ = try await house.submit(try Proofs.jws(0)) }
    }

    /// Submits them while the first one is being written, so that all others are one batch or more.
    private static func submitTogether(
        _ numbers: Range<Int64>,
        in house: PipelineHouse,
        _ look: @escaping @Sendable (Outcome?) -> Void
    ) async throws {
        house.store.hold()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in numbers {
                let proof = try Proofs.jws(number)
                group.addImmediateTask { look(try? await house.submit(proof)) }
                if number == numbers.lowerBound { await house.store.untilHeld() }
            }
            house.store.release()
            try await group.waitForAll()
        }
    }
}
