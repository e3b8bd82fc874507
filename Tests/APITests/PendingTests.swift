import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import Synchronization
import Testing
import TestSupport

@Suite struct PendingTests {
    @Test func whatCannotBeDecidedIsKeptOnceAndCanBeAskedFor() async throws {
        try await TestHouse().open { house in
            let answer = await house.submit("170000029449420")
            #expect(answer.status == .accepted)
            let id = try #require(try answer.json()["submission_id"]?.string)
            #expect(answer.fields["Location"] == "/v1/submissions/\(id)")
            #expect(try answer.json()["reason"]?.string == "pending")
            let again = await house.submit("170000029449420")
            #expect(try again.json()["submission_id"]?.string == id)
            let other = await house.submit("170000029449420", customer: "customer-2")
            #expect(try other.json()["submission_id"]?.string != id)

            let asked = await house.get("/v1/submissions/\(id)")
            #expect(asked.status == .ok)
            #expect(try asked.json()["result"]?.string == "pending")
            #expect(await house.get("/v1/submissions/\(id)", key: TestHouse.otherKey).status == .notFound)
            let unknown = String(repeating: "0", count: 32)
            let crooked = [id.uppercased(), id + "00", String(id.dropLast()), unknown, "1", "x"]
            for path in crooked { #expect(await house.get("/v1/submissions/\(path)").status == .notFound) }
        }
    }

    /// Who waits is answered when it is decided, and not before.
    @Test func whoWaitsIsAnsweredWhenItIsDecided() async throws {
        let store = MemoryStore()
        let app = try #require(AppID("demo"))
        let looks = Mutex(0)
        let house = try TestHouse(store: store) { step in
            #expect(step == .milliseconds(500))
            let look = looks.withLock { looks in
                looks += 1
                return looks
            }
            guard look == 3 else { return true }
            let settled = try? await store.write { write throws(StoreFailure) in
                let waiting = try write.pendingSubmissions(app: app, after: nil, limit: 1).submissions
                for kept in waiting {
                    _ = try write.settlePending(kept.id, as: Settlement(verdict: "genuine", at: TestHouse.now))
                }
                return waiting.count
            }
            #expect(settled == 1)
            return true
        }
        try await house.open { house in
            let answer = await house.submit("170000029449420")
            let id = try #require(try answer.json()["submission_id"]?.string)
            let decided = try await house.get("/v1/submissions/\(id)", query: "wait=20").json()
            #expect(decided["result"]?.string == "decided")
            #expect(looks.withLock(\.self) == 3)
            // What is decided needs no waiting.
            _ = await house.get("/v1/submissions/\(id)", query: "wait=20")
            #expect(looks.withLock(\.self) == 3)
        }
    }

    @Test(arguments: [(1, 2), (20, 40)])
    func whoWaitsInVainIsToldSo(seconds: Int, pauses: Int) async throws {
        let looks = Mutex(0)
        let house = try TestHouse { _ in
            looks.withLock { $0 += 1 }
            return true
        }
        try await house.open { house in
            let id = try #require(try await house.submit("170000029449420").json()["submission_id"]?.string)
            let waited = try await house.get("/v1/submissions/\(id)", query: "wait=\(seconds)").json()
            #expect(waited["result"]?.string == "pending")
            #expect(looks.withLock(\.self) == pauses)
            for wrong in ["0", "21", "x", ""] {
                #expect(await house.get("/v1/submissions/\(id)", query: "wait=\(wrong)").status == .badRequest)
            }
        }
    }

    /// As a known proof is answered, in every other way than by a signature.
    @Test func whatIsDecidedIsToldToWhoSendsItAgain() async throws {
        try await TestHouse().open { house in
            for customer in ["customer-1", "customer-2"] {
                #expect(await house.submit("41", customer: customer).status == .accepted)
            }
            let signed = await house.submit(try Sample.jws(41))
            #expect(signed.status == .ok)
            #expect(await house.submit("41").status == .accepted)
            try await house.settle(as: "test_signed")
            let again = await house.submit("41")
            #expect(again.status == .ok)
            #expect(try again.json()["result"]?.string == "already_recorded")
            let told = try #require(try again.json()["transactions"]?.array)
            let first = try #require(try signed.json()["transactions"]?.array)
            #expect(told.map(\.raw) == first.map(\.raw))
            // What it is to pay for must stand in it, and whose it is nobody else is told.
            #expect(await house.submit("41", product: "com.example.demo.other").status == .unprocessableContent)
            let other = try await house.submit("41", customer: "customer-2").json()
            let theirs = try #require(other["transactions"]?.array).compactMap(\.object)[0]
            #expect(theirs["decision"]?.string == "owned_by_another_customer")
            #expect(theirs["customer_id"] == nil)
        }
    }

    @Test(arguments: ["not_yours", "forged", "malformed", "test_signed"])
    func whatWasRefusedIsRefusedToWhoSendsItAgain(verdict: String) async throws {
        try await TestHouse(acceptsTestSigned: false).open { house in
            let first = await house.submit("42")
            let path = try #require(first.fields["Location"])
            try await house.settle(as: verdict)
            let again = await house.submit("42")
            #expect(again.status == .unprocessableContent)
            #expect(try again.json()["code"]?.string == "refused")
            #expect(try again.json()["verdict"]?.string == verdict)
            #expect(try await house.get(path).json()["verdict"]?.string == verdict)
            house.clock.advance(by: .seconds(3_600))
            // Apple may know by now what it did not.
            let later = await house.submit("42")
            #expect(later.status == (verdict == "not_yours" ? .accepted : .unprocessableContent))
            if verdict == "not_yours" { #expect(later.fields["Location"] == path) }
        }
    }

    @Test func aReceiptWithoutPurchasesUnlocksNothing() async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            let receipt = try signer.receipt([], createdAt: TestHouse.now)
            let answer = await house.submit(
                String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            )
            #expect(answer.status == .accepted)
            #expect(try answer.json()["transactions"] == nil)
        }
    }

    @Test func anAppTransactionHoldsNoPurchase() async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            let bundleID = try #require(BundleID("com.example.demo"))
            let proof = try signer.appTransaction(AppDownload(bundleID: bundleID, signedAt: TestHouse.now))
            let answer = await house.submit(proof)
            #expect(answer.status == .ok)
            #expect(try answer.json()["result"]?.string == "nothing_to_record")
        }
    }

    @Test func aCertificateThatIsAddedLaterDecidesWhatWaited() async throws {
        let store = MemoryStore()
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
        let number: Int64 = 2_000_000_000_000_091
        // Kept by a server that could not know; the verdict of one that can is looked up at its start.
        let app = try #require(AppID("demo"))
        let proof = Array(try signer.transaction(Sample.transaction(number)).utf8)
        let pending = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 0xA7, count: 16))),
            app: app,
            digest: try #require(ProofDigest([UInt8](repeating: 7, count: 32))),
            format: "jws_transaction",
            proof: proof,
            customer: CustomerID("customer-1"),
            order: nil,
            reason: "intermediate_missing",
            receivedAt: TestHouse.now
        )
        let id = try await store.write { transaction throws(StoreFailure) in
            try transaction.keepPending(pending).id
        }
        try await TestHouse(store: store).open { house in
            await house.reviewPending()
            let asked = await house.get("/v1/submissions/\(Hexadecimal.encode(id.bytes))")
            let json = try asked.json()
            #expect(json["result"]?.string == "decided")
            #expect(json["verdict"]?.string == "test_signed")
            #expect(await house.get("/v1/transactions/\(number)").status == .ok)
        }
    }

    /// What one app is told does not change with what others send.
    @Test func anIDTellsNothingOfOtherApps() async throws {
        var told: [[String?]] = []
        for others in [0, 5] {
            try await TestHouse().open { house in
                for number in 0..<others {
                    _ = await house.submit("17000002944942\(number)", key: TestHouse.otherKey)
                    let other = try Sample.jws(
                        Int64(100 + number),
                        bundleID: "com.example.other",
                        environment: .production
                    )
                    #expect(await house.submit(other, key: TestHouse.otherKey).status == .ok)
                }
                let pending = await house.submit("170000029449420")
                for number in 1...3 { _ = await house.submit(try Sample.jws(Int64(number))) }
                let page = await house.get("/v1/customers/customer-1/transactions", query: "limit=1")
                told.append([
                    try pending.json()["submission_id"]?.string, pending.fields["Location"],
                    try page.json()["next"]?.string,
                ])
            }
        }
        #expect(told[0] == told[1])
        #expect(told[0].last == "3.sandbox.test")
        #expect(told[0].first??.utf8.count == 32)
    }

    @Test func ofOneCustomerNoMoreWaitThanMay() async throws {
        try await TestHouse(limits: TestHouse.limits(pendingPerCustomer: 1)).open { house in
            let first = await house.submit("170000029449420")
            #expect(first.status == .accepted)
            let refused = await house.submit("170000029449421")
            #expect(refused.status == .tooManyRequests)
            #expect(refused.fields["Content-Type"] == "application/problem+json")
            #expect(refused.fields["Retry-After"] == "300")
            let problem = try refused.json()
            #expect(problem["code"]?.string == "too_many_pending_of_customer")
            #expect(problem["retryable"]?.bool == true)
            #expect(await house.submit("170000029449420").fields["Location"] == first.fields["Location"])
            #expect(await house.submit(try Sample.jws(1)).status == .ok)
        }
    }

    @Test func whatWaitsTooLongIsGivenUpAndMayBeSentAgain() async throws {
        try await TestHouse(limits: TestHouse.limits(pendingPerApp: 2)).open { house in
            let first = await house.submit("170000029449420")
            let path = try #require(first.fields["Location"])
            _ = await house.submit("170000029449421")
            #expect(await house.submit("170000029449422").status == .serviceUnavailable)
            house.clock.advance(by: .seconds(30 * 86_400))
            await house.sweepPending()
            #expect(try await house.get(path).json()["result"]?.string == "pending")
            house.clock.advance(by: .milliseconds(1))
            await house.sweepPending()
            let told = try await house.get(path).json()
            #expect(told["result"]?.string == "given_up")
            #expect(told["reason"]?.string == "waited_too_long")
            #expect(told["verdict"] == nil)
            #expect(told["decided_at"]?.string != nil)
            // Its place is free, for others and for itself.
            #expect(await house.submit("170000029449422").status == .accepted)
            #expect(await house.submit("170000029449420").fields["Location"] == path)
            #expect(try await house.get(path).json()["result"]?.string == "pending")
            #expect(await house.submit("170000029449421").status == .serviceUnavailable)
        }
    }
}

extension TestHouse {
    /// Decides all that waits, as Apple's answers would.
    func settle(as verdict: String) async throws {
        let (app, settlement) = (try #require(AppID("demo")), Settlement(verdict: verdict, at: clock.now))
        try await store.write { write throws(StoreFailure) in
            for kept in try write.pendingSubmissions(app: app, after: nil, limit: 20).submissions {
                _ = try write.settlePending(kept.id, as: settlement)
            }
        }
    }
}
