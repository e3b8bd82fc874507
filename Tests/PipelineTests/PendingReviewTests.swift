import Pipeline
import PurchaseModel
import Storage
import Testing

/// What the bytes alone did not decide is kept, up to a bound, and looked at again at a start.
@Suite struct PendingReviewTests {
    /// A server that has the certificate of the authority for iOS 6.
    private static func knowingHouse(over store: WatchedStore, pendingPerApp: Int = 1_000) throws -> PipelineHouse {
        let certificate = try StoreAuthority.one.get().certificate
        return try PipelineHouse(store: store, intermediates: [certificate], pendingPerApp: pendingPerApp)
    }

    private static func oldReceipt(_ number: Int64, product: String = "coins") throws -> [UInt8] {
        try StoreAuthority.one.get().receipt(Proofs.transaction(number, product: product))
    }

    @Test func onlyWhatIsDecidedIsSettledAndNothingElseIsWritten() async throws {
        let store = WatchedStore()
        let (old, bare) = try await PipelineHouse(store: store).open { (house) async throws in
            let old = try await house.submit(Self.oldReceipt(1)).pendingID
            return (old, try await house.submit(Array("170000029449420".utf8)).pendingID)
        }
        let writes = store.writes
        try await Self.knowingHouse(over: store).open { (house) async throws in
            await house.review.run()
            #expect(house.store.writes == writes + 1, "recorded and settled at once")
            #expect(house.pendingEvents == 0)
            #expect(try await house.figures().pendingSubmissions == 1)
            #expect(try await Self.verdict(of: old, in: store) == "test_signed")
            #expect(try await Self.verdict(of: bare, in: store) == nil)
            #expect(try await house.submit(try Self.oldReceipt(1)).word == "known")
            await house.review.run()
            #expect(house.store.writes == writes + 2)
        }
    }

    @Test func whatTurnsOutToBeForgedIsSettledAsThat() async throws {
        let store = WatchedStore()
        // Said to wait for a certificate, as another build may have thought.
        let proof = Proofs.garbage(1)
        let pending = try Self.pending(proof)
        let id = try await store.write { transaction throws(StoreFailure) in try transaction.keepPending(pending).id }
        try await Self.knowingHouse(over: store).open { (house) async throws in
            await house.review.run()
            #expect(try await Self.verdict(of: id, in: store) == "malformed")
            #expect(try await house.figures().transactions == 0)
        }
    }

    /// A slip in the configuration, mended at the next start, has cost nobody a purchase.
    @Test func whatOnlyTheConfigurationRefusesStaysOpen() async throws {
        let store = WatchedStore()
        let id = try await PipelineHouse(store: store).open { try await $0.submit(Self.oldReceipt(1)).pendingID }
        let certificate = try StoreAuthority.one.get().certificate
        let strict = try PipelineHouse(store: store, intermediates: [certificate], acceptsTestSigned: false)
        try await strict.open { (house) async throws in
            await house.review.run()
            #expect(try await Self.verdict(of: id, in: store) == nil)
            #expect(try await house.figures().pendingSubmissions == 1)
        }
        try await Self.knowingHouse(over: store).open { (house) async throws in
            await house.review.run()
            #expect(try await Self.verdict(of: id, in: store) == "test_signed")
        }
    }

    @Test func aStoreThatFailsLeavesItForTheNextStart() async throws {
        let store = WatchedStore()
        let id = try await PipelineHouse(store: store).open { try await $0.submit(Self.oldReceipt(1)).pendingID }
        for failures in [[StoreFailure.full], [.full]] {
            try await Self.knowingHouse(over: store).open { (house) async throws in
                for failure in failures { store.fail(failure) }
                await house.review.run()
                #expect(try await Self.verdict(of: id, in: store) == nil)
            }
        }
        try await Self.knowingHouse(over: store).open { (house) async throws in
            await house.review.run()
            #expect(try await Self.verdict(of: id, in: store) == "test_signed")
        }
    }

    @Test func whatIsPaidForIsComparedBeforeItWaits() async throws {
        try await PipelineHouse().open { (house) async throws in
            #expect(try await house.submit(try Self.oldReceipt(1), product: "gems").word == "refused other_product")
            #expect(try await house.submit(try Self.oldReceipt(1), product: "coins").word == "pending")
        }
    }

    @Test func asManyWaitAsMayAndKnownOnesAreStillAnswered() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            let first = try await house.submit(Self.oldReceipt(1)).pendingID
            #expect(try await house.submit(try Self.oldReceipt(2)).word == "pending")
            let writes = store.writes
            for number in Int64(3)..<6 { #expect(try await house.submit(try Self.oldReceipt(number)).word == "busy") }
            #expect(try await house.submit(try Self.oldReceipt(1)).pendingID == first)
            #expect(try await house.submit(try Self.oldReceipt(1), customer: "bob").word == "busy")
            #expect(try await house.submit(try Self.oldReceipt(3), to: house.otherApp).word == "pending")
            // What is decided at once is not held up by what waits.
            #expect(try await house.submit(try Proofs.jws(9)).word == "recorded")
            #expect(store.writes > writes)
            #expect(try await house.figures().pendingSubmissions == 3)
        }
        // A restart counts them again; what is decided makes room.
        try await Self.knowingHouse(over: store, pendingPerApp: 2).open { (house) async throws in
            #expect(try await house.submit(Array("170000029449420".utf8)).word == "busy")
            await house.review.run()
            #expect(try await house.figures().pendingSubmissions == 0)
            #expect(try await house.submit(Array("170000029449420".utf8)).word == "pending")
            #expect(try await house.submit(Array("170000029449421".utf8)).word == "pending")
            #expect(try await house.submit(Array("170000029449422".utf8)).word == "busy")
        }
    }

    /// Servers share the places of an app, and each settles what another one has kept.
    @Test func whatAnotherServerHasSettledTakesNoPlace() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            for number in Int64(1)...2 {
                #expect(try await house.submit(try Self.oldReceipt(number)).word == "pending")
            }
            #expect(try await house.submit(try Self.oldReceipt(3)).word == "busy")
            try await Self.knowingHouse(over: store).open { await $0.review.run() }
            #expect(try await house.figures().pendingSubmissions == 0)
            house.clock.advance(by: .seconds(5))
            for number in Int64(3)...4 {
                #expect(try await house.submit(try Self.oldReceipt(number)).word == "pending")
            }
            #expect(try await house.submit(try Self.oldReceipt(5)).word == "busy")
        }
    }

    @Test func whatWaitsIsBoundedByItsSizeToo() async throws {
        let store = WatchedStore()
        let bare = Array("170000029449420".utf8)
        // Each another number: the same one would be the same, however it is written.
        func padded(_ count: Int) -> [UInt8] {
            Array("\(170_000_029_449_000 + count)".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: count)
        }
        try await PipelineHouse(store: store, pendingBytesPerApp: 100).open { (house) async throws in
            #expect(try await house.submit(padded(70)).word == "pending")
            #expect(try await house.submit(padded(1)).word == "busy")
            #expect(try await house.submit(bare).word == "pending")
            #expect(try await house.submit(padded(70)).word == "pending", "it waits already")
            #expect(try await house.submit(bare, to: house.otherApp).word == "pending")
        }
        try await PipelineHouse(store: store, pendingBytesPerApp: 102).open { (house) async throws in
            #expect(try await house.submit(Array("12".utf8)).word == "pending", "a restart weighs them again")
            #expect(try await house.submit(Array("3".utf8)).word == "busy")
        }
    }

    @Test func ofOneCustomerNoMoreWaitThanMay() async throws {
        let store = WatchedStore()
        func bare(_ number: Int) -> [UInt8] { Array("17000002944942\(number)".utf8) }
        try await PipelineHouse(store: store, pendingPerCustomer: 2).open { (house) async throws in
            let first = try #require(try await house.submit(bare(0)).pendingID)
            #expect(try await house.submit(bare(1)).word == "pending")
            for number in 2..<5 { #expect(try await house.submit(bare(number)).word == "customer busy") }
            #expect(try await house.figures().pendingSubmissions == 2)
            #expect(try await house.submit(bare(0)).pendingID == first, "it waits already")
            // Nobody else is held up, nor what is decided at once.
            #expect(try await house.submit(bare(2), customer: "bob").word == "pending")
            #expect(try await house.submit(bare(2), to: house.otherApp).word == "pending")
            #expect(try await house.submit(try Proofs.jws(9)).word == "recorded")
            #expect(try await house.submit(Array("nonsense".utf8)).word == "refused unreadable")
            // Who names nobody takes the app's places alone.
            for number in 5..<9 { #expect(try await house.submit(bare(number), customer: "").word == "pending") }
            try await house.store.write { write throws(StoreFailure) in
                _ = try write.settlePending(first, as: Settlement(verdict: "genuine", at: house.clock.now))
            }
            #expect(try await house.submit(bare(3)).word == "pending", "what is decided makes room")
        }
        // Another server, or this one after a restart, counts what is in the ledger.
        try await PipelineHouse(store: store, pendingPerCustomer: 2).open { (house) async throws in
            #expect(try await house.submit(bare(4)).word == "customer busy")
            #expect(try await house.submit(bare(4), customer: "bob").word == "pending")
            #expect(try await house.submit(bare(5), customer: "bob").word == "customer busy")
        }
    }

    /// Whoever sends more and more of what cannot wait any more holds up nobody who buys: it costs reads.
    @Test func whoFindsNoRoomCostsNoWrite() async throws {
        func bare(_ number: Int) -> [UInt8] { Array("17000002944942\(number)".utf8) }
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 3, pendingPerCustomer: 2).open { (house) async throws in
            let first = try await house.submit(bare(0)).pendingID
            #expect(try await house.submit(bare(1)).word == "pending")
            #expect(store.writes == 2)
            for number in 2..<9 { #expect(try await house.submit(bare(number)).word == "customer busy") }
            #expect(try await house.submit(bare(0)).pendingID == first, "it waits already")
            #expect(store.writes == 2)
            #expect(try await house.submit(bare(2), customer: "bob").word == "pending")
            #expect(store.writes == 3)
            // The app's places are taken, too.
            for number in 3..<9 { #expect(try await house.submit(bare(number), customer: "bob").word == "busy") }
            for number in 3..<9 { #expect(try await house.submit(bare(number), customer: "").word == "busy") }
            #expect(try await house.submit(bare(2), customer: "bob").word == "pending", "it waits already")
            #expect(store.writes == 3)
        }
    }

    /// Two that come at once both see a free place, and the second finds it taken when it is her turn to be written.
    @Test func theWriteDecidesWhetherThereIsRoom() async throws {
        func bare(_ number: Int) -> [UInt8] { Array("17000002944942\(number)".utf8) }
        let base = MemoryStore()
        let store = WatchedStore(base)
        try await PipelineHouse(store: store, pendingPerApp: 2, pendingPerCustomer: 1).open { (house) async throws in
            #expect(try await house.submit(bare(0), customer: "bob").word == "pending")
            store.hold()
            async let outcome = house.submit(bare(1))
            await store.untilHeld()
            let other = try Self.pending(bare(2))
            try await base.write { transaction throws(StoreFailure) in _ = try transaction.keepPending(other) }
            store.release()
            #expect(try await outcome.word == "customer busy")
            // The app's place is free again.
            #expect(try await house.submit(bare(3), customer: "cid").word == "pending")
        }
    }

    @Test func theBoundOfACustomerHoldsWhenAllComeAtOnce() async throws {
        try await PipelineHouse(pendingPerApp: 12, pendingPerCustomer: 5).open { (house) async throws in
            await withTaskGroup(of: Void.self) { group in
                for number in 10..<50 {
                    group.addTask { _ = try? await house.submit(Array("1700000294494\(number)".utf8)) }
                }
            }
            #expect(try await house.figures().pendingSubmissions == 5)
            // The refused ones have given the app's places back.
            for number in 50..<57 {
                let proof = Array("1700000294494\(number)".utf8)
                #expect(try await house.submit(proof, customer: "customer-\(number)").word == "pending")
            }
        }
    }

    @Test func theBoundHoldsWhenAllComeAtOnce() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 5).open { (house) async throws in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        let proof = Array("1700000294494\(10 + number)".utf8)
                        _ = try? await house.submit(proof)
                        _ = try? await house.submit(proof)
                    }
                }
            }
            #expect(try await house.figures().pendingSubmissions == 5)
        }
    }

    /// What records nothing, whichever store it is from, needs no place and no call to Apple.
    @Test func whatCannotHoldAPurchaseDoesNotWait() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store).open { (house) async throws in
            for (name, proof) in try Proofs.withoutStore() {
                let isPurchase = name == "transaction"
                #expect(try await house.submit(proof).word == (isPurchase ? "pending" : "nothing"), "\(name)")
                #expect(try await house.figures().pendingSubmissions == (isPurchase ? 1 : 0), "\(name)")
            }
            #expect(store.writes == 1)
        }
        // Where no test signature counts it is refused, as before.
        try await PipelineHouse(acceptsTestSigned: false).open { (house) async throws in
            for (name, proof) in try Proofs.withoutStore() {
                #expect(try await house.submit(proof).word == "refused test_purchase", "\(name)")
            }
        }
    }

    @Test func whatWaitedWithoutAPurchaseInItWaitsNoMore() async throws {
        let store = WatchedStore()
        let (_, proof) = try #require(try Proofs.withoutStore().first)
        let id = try await store.write { [pending = try Self.pending(proof)] transaction throws(StoreFailure) in
            try transaction.keepPending(pending).id
        }
        try await PipelineHouse(store: store).open { (house) async throws in
            await house.review.run()
            #expect(try await house.figures().pendingSubmissions == 0)
            #expect(try await Self.verdict(of: id, in: store) == "test_signed")
        }
    }

    private static func pending(_ proof: [UInt8]) throws -> PendingSubmission {
        PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 7, count: 16))),
            app: try #require(AppID("game")),
            digest: try #require(ProofDigest([UInt8](repeating: 7, count: 32))),
            format: "ios6_receipt",
            proof: proof,
            customer: CustomerID("ann"),
            order: nil,
            reason: "intermediate_missing",
            receivedAt: PipelineHouse.now
        )
    }

    private static func verdict(of id: SubmissionID?, in store: WatchedStore) async throws -> String? {
        let id = try #require(id)
        return try await store.read { reader throws(StoreFailure) in try reader.submission(id)?.settlement?.verdict }
    }
}
