import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
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
            for path in ["0", "-1", "99", "01", "x", "9223372036854775808"] {
                #expect(await house.get("/v1/submissions/\(path)").status == .notFound)
            }
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
            let asked = await house.get("/v1/submissions/\(id.number)")
            let json = try asked.json()
            #expect(json["result"]?.string == "decided")
            #expect(json["verdict"]?.string == "test_signed")
            #expect(await house.get("/v1/transactions/\(number)").status == .ok)
        }
    }
}
